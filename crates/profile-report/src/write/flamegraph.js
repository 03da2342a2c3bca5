// Zoom, search and the line at the bottom.
(function () {
  var WIDTH = 1200, MARGIN = 10, LETTER = 7.3;
  var room = WIDTH - 2 * MARGIN;
  var says = document.getElementById("says");
  var reset = document.getElementById("reset");
  var search = document.getElementById("search");
  var frames = Array.prototype.map.call(document.querySelectorAll(".f"), function (g) {
    var rect = g.querySelector("rect");
    return {
      g: g, rect: rect, text: g.querySelector("text"), title: g.querySelector("title").textContent,
      name: g.dataset.n, brief: g.dataset.b, x: +g.dataset.x, w: +g.dataset.w, d: +g.dataset.d, fill: rect.getAttribute("fill")
    };
  });
  function label(frame, width) {
    var n = Math.floor((width - 6) / LETTER);
    if (frame.name.length <= n) return frame.name;
    return frame.brief.length <= n ? frame.brief : n < 4 ? "" : frame.brief.slice(0, n - 2) + "..";
  }
  function zoom(to) {
    reset.setAttribute("visibility", to.d === 0 ? "hidden" : "visible");
    frames.forEach(function (f) {
      var around = f.d < to.d && f.x <= to.x + 0.01 && f.x + f.w >= to.x + to.w - 0.01;
      var within = f.d >= to.d && f.x >= to.x - 0.01 && f.x + f.w <= to.x + to.w + 0.01;
      f.g.style.display = around || within ? "" : "none";
      f.g.classList.toggle("far", around);
      var x = around ? MARGIN : MARGIN + (f.x - to.x) / to.w * room;
      var w = around ? room : f.w / to.w * room;
      f.rect.setAttribute("x", x);
      f.rect.setAttribute("width", Math.max(w - 0.4, 0.1));
      f.text.setAttribute("x", x + 3);
      f.text.textContent = label(f, w);
    });
  }
  function find(words) {
    // What is found weighs what the outermost frames of it weigh: frames within others do not count twice.
    var found = 0, spans = [];
    frames.forEach(function (f) {
      var hit = words && f.d > 0 && f.title.toLowerCase().indexOf(words.toLowerCase()) >= 0;
      f.rect.setAttribute("fill", hit ? "hsl(300,90%,60%)" : f.fill);
      if (hit) spans.push(f);
    });
    spans.sort(function (a, b) { return a.d - b.d; });
    var outer = [];
    spans.forEach(function (f) {
      if (!outer.some(function (o) { return o.x <= f.x + 0.01 && o.x + o.w >= f.x + f.w - 0.01; })) { outer.push(f); found += f.w; }
    });
    search.textContent = words ? "'" + words + "': " + (found / room * 100).toFixed(1) + " %" : "Search";
  }
  frames.forEach(function (f) {
    f.g.addEventListener("click", function () { zoom(f); });
    f.g.addEventListener("mouseover", function () { says.textContent = f.title; });
  });
  var root = frames.filter(function (f) { return f.d === 0; })[0];
  reset.addEventListener("click", function () { zoom(root); });
  function ask() {
    var words = prompt("Mark the frames whose name contains:", "");
    if (words !== null) find(words);
  }
  search.addEventListener("click", ask);
  document.addEventListener("keydown", function (e) {
    if (e.key === "Escape") { zoom(root); find(""); }
    if (e.key === "/" || (e.key === "f" && (e.ctrlKey || e.metaKey))) { e.preventDefault(); ask(); }
  });
})();
