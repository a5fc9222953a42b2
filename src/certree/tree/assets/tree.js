/* A tree that can be folded, zoomed and asked. `new TreeView(host, data, options)` draws the data of
   certree.tree._view into an element. Every text of the data becomes a text node, never markup. */

const READABLE = 0.6; // the least scale of the picture before the list takes its place

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") made.className = value;
    else if (name === "style") for (const [key, v] of Object.entries(value)) made.style.setProperty(key, v);
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function drawn(tag, attributes, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/* Keep a sign and the short value after it on one line, and so the parts of "54 of 60 (90.0%)". */
function joined(text) {
  if (/ weight [\d.]+/.test(text)) return text.replace(/(?<=\d) (?=of|rows?\b)|(?<=of) (?=\d)|(?<= weight) /g, "\u00a0");
  if (/^[\w., %]{1,24} \(.*\)$|^mean of /.test(text)) return text.replace(/(?<!,) (?!\()/g, "\u00a0");
  return text.replace(/ (?:<=|>|=|!=|in) .{1,20}$/, (end) => " " + end.slice(1).replaceAll(" ", "\u00a0"));
}

function percent(share) {
  return (100 * share).toFixed(1) + "\u202f%";
}

function amount(number) {
  if (Number.isInteger(number)) return number.toLocaleString("en-US");
  return number.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}

/* Return a table of names, bars and numbers: rows are {name, colour, share, number}. */
function barTable(rows, caption) {
  const most = Math.max(...rows.map((row) => row.share), 1e-12);
  const lines = rows.map((row) => element("tr", null,
    element("th", { scope: "row" }, row.name),
    element("td", { class: "track", "aria-hidden": "true" },
      element("i", { style: { width: (100 * row.share / most).toFixed(1) + "%", background: row.colour } })),
    element("td", { class: "number" }, row.number),
    element("td", { class: "number" }, percent(row.share))));
  return element("table", { class: "bars", "aria-label": caption }, element("tbody", null, ...lines));
}

/* Return a small picture: a curve with its band in a square from 0 to 1. */
function sketchOf(sketch, width, height) {
  const wide = width - 10, tall = height - 20;
  const path = (points) => points.map(([x, y]) =>
    `${(5 + x * wide).toFixed(1)} ${(5 + (1 - y) * tall).toFixed(1)}`).join("L");
  return drawn("svg", { class: "sketch", viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
    "aria-label": sketch.told },
    drawn("title", null, sketch.told),
    drawn("rect", { class: "paper", width, height, rx: 4 }),
    drawn("path", { class: "band", d: `M${path(sketch.band)}Z` }),
    drawn("path", { class: "axis", d: `M5 5V${5 + tall}h${wide}` }),
    drawn("path", { class: "curve", d: `M${path(sketch.line)}` }),
    drawn("text", { class: "first", x: 5, y: 16 + tall }, sketch.first),
    drawn("text", { class: "last", x: 5 + wide, y: 16 + tall }, sketch.last));
}

class TreeView {
  /* options: more(node), an element to add to what is said of a node; chosen(node), called after a
     node was chosen. */
  constructor(host, data, options) {
    this.options = options || {};
    this.mode = "auto";
    this.zoom = 1;
    this.host = host;
    this.stage = element("div", { class: "stage picture", role: "tree" });
    this.view = element("div", { class: "view" }, this.stage);
    this.caption = element("figcaption");
    this.detail = element("div", {
      class: "detail", role: "region", "aria-label": "Selected node", "aria-live": "polite",
    });
    this.bar = this.toolbar();
    host.replaceChildren(element("figure", { style: { margin: "0" } },
      this.caption, this.bar, this.view, this.detail));
    this.stage.addEventListener("keydown", (event) => this.key(event));
    this.show(data);
    this.width = 0;
    new ResizeObserver(() => {
      if (Math.abs(this.view.clientWidth - this.width) > 1) this.layout();
    }).observe(this.view);
    window.addEventListener("beforeprint", () => { this.printing = true; this.layout(); });
    window.addEventListener("afterprint", () => { this.printing = false; this.layout(); });
  }

  toolbar() {
    const button = (text, label, act) => element("button", {
      type: "button", "aria-label": label, title: label, onclick: act,
    }, text);
    this.modeButton = button("List", "Show the tree as a list", () => {
      this.mode = this.isList ? "picture" : "list";
      this.zoom = 1;
      this.layout();
    });
    return element("div", { class: "bar", role: "toolbar", "aria-label": "How the tree is shown" },
      button("Fit", "Fit the tree to the width", () => { this.mode = "auto"; this.zoom = 1; this.layout(); }),
      button("\u2212", "Zoom out", () => this.zoomBy(1 / 1.25)),
      button("+", "Zoom in", () => this.zoomBy(1.25)),
      button("Fold", "Fold all below the first question", () => this.foldAll(true)),
      button("Unfold", "Unfold all", () => this.foldAll(false)),
      this.modeButton);
  }

  /* Draw another tree in the place of this one. */
  show(data) {
    this.data = data;
    this.folded = new Set();
    this.path = null;
    this.focus = 0;
    this.stage.setAttribute("aria-label", data.title);
    this.caption.replaceChildren(element("strong", null, data.title), this.legend());
    this.edges = drawn("svg", { class: "edges", "aria-hidden": "true" });
    this.order = this.preorder();
    this.depth = [];
    for (const node of this.order) {
      const parent = data.nodes[node].parent;
      this.depth[node] = parent < 0 ? 0 : this.depth[parent] + 1;
    }
    this.nodes = [];
    for (const node of this.order) this.nodes[node] = this.node(node);
    this.stage.replaceChildren(this.edges, ...this.order.map((node) => this.nodes[node]));
    this.layout();
    this.choose(0, true);
  }

  legend() {
    const { scale, contents, colours, classes, noun } = this.data;
    if (scale) {
      const told = `Colours from ${scale.low} (light) to ${scale.high} (dark)`;
      return element("div", { class: "scale", role: "img", "aria-label": told },
        element("span", null, "Prediction"), element("span", null, scale.low),
        element("span", { class: "ramp", style: { background: `linear-gradient(to right,${scale.stops.join(",")})` } }),
        element("span", null, scale.high));
    }
    return element("ul", { class: "legend", "aria-label": classes && noun === "class" ? "Classes" : "Predictions" },
      ...contents.map((name, k) => element("li", null,
        element("span", { class: "swatch", style: { background: colours[k] } }), name)));
  }

  children(node) {
    const range = this.data.nodes[node].children;
    return range.length ? Array.from({ length: range[1] }, (_, k) => range[0] + k) : [];
  }

  preorder() {
    const order = [], stack = [0];
    while (stack.length) {
      const node = stack.pop();
      order.push(node);
      stack.push(...this.children(node).reverse());
    }
    return order;
  }

  node(node) {
    const { nodes, contents, colours, inks, scale } = this.data;
    const own = nodes[node], isLeaf = !own.children.length;
    const first = isLeaf && !own.parts.length ? contents[own.label] : joined(own.says);
    const box = element("div", { class: "box" }, element("span", { class: "says" }, first));
    own.parts.forEach((part) => box.append(element("div", { class: "part" }, joined(part))));
    const style = { "--level": this.depth[node] };
    if (isLeaf) {
      box.append(element("div", { class: "told" }, joined(own.told)));
      style["--colour"] = colours[own.label];
      if (inks) style["--ink"] = inks[own.label];
      if (own.sketch) box.append(sketchOf(own.sketch, 132, 62));
    } else {
      const fold = (event) => { event.stopPropagation(); this.toggle(node); };
      box.append(element("span", { class: "fold", "aria-hidden": "true", onclick: fold }));
    }
    if (!(isLeaf && scale) && own.mix.length) {
      box.append(element("div", { class: "mix", "aria-hidden": "true" },
        ...own.mix.map(([content, share]) => element("i", {
          style: { width: (100 * share).toFixed(2) + "%", background: colours[content] },
        }))));
    }
    const told = isLeaf ? `${contents[own.label]}, ${own.told}` : `${own.says}?`;
    const siblings = own.parent < 0 ? [node] : this.children(own.parent);
    return element("div", {
      class: "node" + (isLeaf ? " leaf" : " split") + (isLeaf && scale ? " amount" : "")
        + (isLeaf && own.weight !== null ? " weighed" : ""),
      role: "treeitem", tabindex: "-1", "data-node": node, style,
      "aria-level": this.depth[node] + 1,
      "aria-posinset": siblings.indexOf(node) + 1, "aria-setsize": siblings.length,
      "aria-label": own.answer ? `${own.answer}: ${told}` : told,
      onclick: () => { this.choose(node); this.nodes[node].focus({ preventScroll: true }); },
    }, element("span", { class: "answer" }, own.answer), box);
  }

  /* ---- places ------------------------------------------------------------------------------ */

  visible() {
    const seen = new Set([0]);
    for (const node of this.order) {
      if (!seen.has(node) || (this.folded.has(node) && !this.printing)) continue;
      for (const child of this.children(node)) seen.add(child);
    }
    return this.order.filter((node) => seen.has(node));
  }

  layout() {
    const style = getComputedStyle(this.view);
    this.width = this.view.clientWidth;
    // Pages of paper are narrower than screens, and say so only after they are laid out.
    const room = (this.printing ? Math.min(this.width || 680, 680) : this.width)
      - parseFloat(style.paddingLeft) - parseFloat(style.paddingRight);
    const shown = this.visible(), seen = new Set(shown);
    for (const node of this.order) {
      const item = this.nodes[node], isFolded = this.folded.has(node);
      item.hidden = !seen.has(node);
      item.style.display = seen.has(node) ? "" : "none";
      if (this.children(node).length) {
        item.setAttribute("aria-expanded", String(!isFolded));
        item.querySelector(".fold").textContent = isFolded ? "\u25b8" : "\u25be";
      }
    }
    this.setList(this.mode === "list");
    const size = this.arrange(shown);
    const fit = Math.min(1, room / size.width);
    if (this.mode === "auto" && fit < READABLE && this.zoom === 1) {
      this.setList(true);
    }
    if (this.isList) {
      this.stage.removeAttribute("style");
      for (const node of shown) this.nodes[node].style.left = this.nodes[node].style.top = "";
      this.stage.style.fontSize = this.zoom === 1 ? "" : `${Math.min(2, this.zoom)}em`;
      this.view.style.height = "";
    } else {
      const scale = fit * this.zoom;
      this.stage.style.fontSize = "";
      this.stage.style.width = size.width + "px";
      this.stage.style.height = size.height + "px";
      this.stage.style.transform = `scale(${scale})`;
      this.stage.style.marginLeft = Math.max(0, (room - size.width * scale) / 2) + "px";
      // The stage keeps its unscaled size in the flow, so the view states the height, and what a
      // smaller picture leaves over must not make it scroll.
      this.stage.style.marginRight = Math.min(0, size.width * (scale - 1)) + "px";
      this.stage.style.marginBottom = Math.min(0, size.height * (scale - 1)) + "px";
      const edge = parseFloat(style.paddingTop) + parseFloat(style.paddingBottom) + 1;
      this.view.style.height = size.height * scale + edge + "px";
      this.view.style.overflow = this.zoom > 1 ? "auto" : "hidden";
    }
    this.modeButton.textContent = this.isList ? "Picture" : "List";
    this.modeButton.setAttribute("aria-label", this.isList ? "Show the tree as a picture" : "Show the tree as a list");
    this.modeButton.title = this.modeButton.getAttribute("aria-label");
    this.mark();
  }

  setList(isList) {
    this.isList = isList;
    this.stage.classList.toggle("list", isList);
    this.stage.classList.toggle("picture", !isList);
  }

  /* Place the nodes of the picture: subtrees side by side, as close as their outlines allow. */
  arrange(shown) {
    const GAP = 10, TURN = 26;
    const seen = new Set(shown), width = [], height = [], outline = [], offset = [];
    for (const node of shown) {
      width[node] = this.nodes[node].offsetWidth;
      height[node] = this.nodes[node].offsetHeight;
    }
    for (const node of [...shown].reverse()) {
      const below = this.children(node).filter((child) => seen.has(child));
      const right = [], places = [];
      for (const child of below) {
        let place = right.length ? -Infinity : 0;
        outline[child].forEach(([low], level) => {
          if (level < right.length) place = Math.max(place, right[level] + GAP - low);
        });
        outline[child].forEach(([, high], level) => { right[level] = place + high; });
        places.push(place);
      }
      const middle = places.length ? (places[0] + places[places.length - 1]) / 2 : 0;
      const merged = [[-width[node] / 2, width[node] / 2]];
      below.forEach((child, k) => {
        offset[child] = places[k] - middle;
        outline[child].forEach(([low, high], level) => {
          const known = merged[level + 1];
          const pair = [low + offset[child], high + offset[child]];
          merged[level + 1] = known ? [Math.min(known[0], pair[0]), Math.max(known[1], pair[1])] : pair;
        });
        outline[child] = null;
      });
      outline[node] = merged;
    }
    const tallest = [];
    for (const node of shown) tallest[this.depth[node]] = Math.max(tallest[this.depth[node]] || 0, height[node]);
    const top = [0];
    tallest.forEach((h, level) => { top[level + 1] = top[level] + h + TURN; });
    const x = [], lines = [];
    const left = -Math.min(...outline[0].map(([low]) => low));
    for (const node of shown) {
      const parent = this.data.nodes[node].parent;
      x[node] = parent < 0 ? left : x[parent] + offset[node];
      const y = top[this.depth[node]];
      this.nodes[node].style.left = x[node] - width[node] / 2 + "px";
      this.nodes[node].style.top = y + "px";
      if (parent >= 0) {
        const start = top[this.depth[parent]] + height[parent];
        lines.push(drawn("path", { d: `M${x[parent]} ${start}V${y - TURN / 2}H${x[node]}V${y}`, "data-child": node }));
      }
    }
    this.edges.replaceChildren(...lines);
    return {
      width: left + Math.max(...outline[0].map(([, high]) => high)),
      height: top[top.length - 1] - TURN,
    };
  }

  zoomBy(factor) {
    this.zoom = Math.min(6, Math.max(0.4, this.zoom * factor));
    if (Math.abs(this.zoom - 1) < 0.01) this.zoom = 1;
    if (this.mode === "auto") this.mode = this.isList ? "list" : "picture";
    this.layout();
    if (this.zoom > 1) this.nodes[this.focus].scrollIntoView({ block: "nearest", inline: "center" });
  }

  /* ---- folding ----------------------------------------------------------------------------- */

  toggle(node, fold) {
    if (!this.children(node).length) return;
    const isFolded = fold === undefined ? !this.folded.has(node) : fold;
    if (isFolded) this.folded.add(node); else this.folded.delete(node);
    this.layout();
    if (this.nodes[this.focus].hidden) this.choose(node);
  }

  foldAll(fold) {
    this.folded = new Set(fold ? this.order.filter((node) => node && this.children(node).length) : []);
    this.layout();
    if (this.nodes[this.focus].hidden) this.choose(0);
  }

  /* ---- choosing ---------------------------------------------------------------------------- */

  choose(node, silently) {
    this.nodes[this.focus].setAttribute("tabindex", "-1");
    for (const item of this.order) {
      this.nodes[item].classList.toggle("chosen", item === node && !silently);
      this.nodes[item].setAttribute("aria-selected", String(item === node && !silently));
    }
    this.focus = node;
    this.nodes[node].setAttribute("tabindex", "0");
    if (silently) {
      this.detail.replaceChildren(element("p", { class: "hint" },
        "Choose a node to see its rule and its rows. Arrow keys move and fold, Enter chooses."));
    } else {
      this.detail.replaceChildren(...this.described(node));
      if (this.options.chosen) this.options.chosen(node);
    }
  }

  described(node) {
    const { nodes, contents, colours, classes, noun } = this.data;
    const own = nodes[node], isLeaf = !own.children.length;
    const ofAll = (part, all) => amount(part) + (all > 0 ? ` of ${amount(all)} (${percent(part / all)})` : "");
    // Rows are known but in weighted trees of other programs; weights stand beside them if there are any.
    const amounts = [["Training rows", "rows"], ["Training weight", "weight"]].flatMap(([title, key]) => own[key] === null
      ? [] : [element("h4", null, title), element("p", null, ofAll(own[key], nodes[0][key]))]);
    const rule = own.rule.length
      ? element("ul", null, ...own.rule.map((text) => element("li", null, text)))
      : element("p", null, "All rows come here.");
    const parts = [element("div", null,
      element("h4", null, own.rule.length > 1 ? "All of these hold" : "Rule"), rule,
      ...amounts,
      own.note ? element("p", null, own.note) : null)];
    if (own.mix.length && (classes || !isLeaf)) {
      // Beside notes, rows are counted by what is best for them.
      const told = own.note ? `Best ${noun} for these rows` : "Classes of these rows";
      const of = own.weight === null ? "" : ", shares of weight";
      const title = (classes ? told : `What rows here get (${noun})`) + of;
      const rows = own.mix.map(([content, share, number]) => ({
        name: contents[content],
        colour: colours[content],
        share,
        number: amount(number === null ? Math.round(share * own.weight * 100) / 100 : number),
      }));
      parts.push(element("div", null, element("h4", null, title), barTable(rows, title)));
    }
    if (own.sketch) {
      parts.push(element("div", null, element("h4", null, own.sketch.told), sketchOf(own.sketch, 330, 170)));
    }
    const more = this.options.more ? this.options.more(node) : null;
    if (more) parts.push(more);
    const heading = isLeaf ? `Prediction: ${contents[own.label]}` : `Question: ${own.says}?`;
    return [element("h3", null, heading), element("div", { class: "parts" }, ...parts)];
  }

  /* Show the way of a row: the nodes from the root to a leaf; null shows none. */
  highlight(path) {
    this.path = path;
    if (path) {
      for (const node of path.slice(0, -1)) this.folded.delete(node);
    }
    this.layout();
  }

  mark() {
    const on = new Set(this.path || []);
    this.stage.classList.toggle("has-path", on.size > 0);
    for (const node of this.order) this.nodes[node].classList.toggle("on", on.has(node));
    for (const line of this.edges.children) line.classList.toggle("on", on.has(Number(line.dataset.child)));
  }

  /* ---- keys: those of a tree, as screen readers teach them ---------------------------------- */

  key(event) {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const shown = this.visible(), place = shown.indexOf(this.focus);
    const own = this.data.nodes[this.focus], below = this.children(this.focus);
    const isOpen = below.length && !this.folded.has(this.focus);
    let to = null;
    if (event.key === "ArrowDown") to = shown[place + 1];
    else if (event.key === "ArrowUp") to = shown[place - 1];
    else if (event.key === "Home") to = shown[0];
    else if (event.key === "End") to = shown[shown.length - 1];
    else if (event.key === "ArrowRight") {
      if (isOpen) to = below[0];
      else this.toggle(this.focus, false);
    } else if (event.key === "ArrowLeft") {
      if (isOpen) this.toggle(this.focus, true);
      else if (own.parent >= 0) to = own.parent;
    } else if (event.key === "Enter" || event.key === " ") this.choose(this.focus);
    else if (event.key === "+" || event.key === "=") this.zoomBy(1.25);
    else if (event.key === "-") this.zoomBy(1 / 1.25);
    else if (event.key === "0") { this.zoom = 1; this.mode = "auto"; this.layout(); }
    else return;
    event.preventDefault();
    if (to !== null && to !== undefined) {
      this.nodes[this.focus].setAttribute("tabindex", "-1");
      this.focus = to;
      this.nodes[to].setAttribute("tabindex", "0");
      this.nodes[to].focus();
    }
  }
}
