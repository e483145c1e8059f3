// P(A above B) from the packed pairs: percent for every pair of models, 255 where one has no value.
"use strict";
(function () {
  const unpacked = new Map();

  function pairs(layer) {
    if (!unpacked.has(layer)) unpacked.set(layer, Uint8Array.from(atob(window.mensura.chances.layers[layer]), (sign) => sign.charCodeAt(0)));
    return unpacked.get(layer);
  }

  window.mensura.oddsAbove = (layer, first, second) => {
    const names = window.mensura.chances.subjects;
    const [a, b] = [names.indexOf(first), names.indexOf(second)];
    if (a < 0 || b < 0 || a === b || !window.mensura.chances.layers[layer]) return null;
    const [low, high] = a < b ? [a, b] : [b, a];
    const at = low * names.length - low * (low + 1) / 2 + (high - low - 1);
    const value = pairs(layer)[at];
    return value === 255 ? null : a < b ? value : 100 - value;
  };
  window.mensura.chanceAbove = (layer, first, second) => {
    const value = window.mensura.oddsAbove(layer, first, second);
    return value === null ? null : value > 99 ? "over 99%" : value < 1 ? "under 1%" : value + "%";
  };
})();
