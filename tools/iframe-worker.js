/* Search in pages that were opened as files: browsers refuse workers there, so the worker's script runs in a frame. */
if (location.protocol === "file:") {
  const load = (frame, address) =>
    new Promise((done, failed) => {
      const script = frame.contentDocument.createElement("script");
      script.src = address;
      script.onload = done;
      script.onerror = failed;
      frame.contentDocument.body.append(script);
    });

  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.srcdoc = "<!doctype html>";
      this.ready = new Promise((done) => this.frame.addEventListener("load", done, { once: true })).then(() => {
        this.frame.contentWindow.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
        this.frame.contentWindow.importScripts = (...addresses) =>
          addresses.reduce((before, one) => before.then(() => load(this.frame, one)), Promise.resolve());
        return load(this.frame, address);
      });
      document.body.append(this.frame);
    }

    postMessage(data) {
      this.ready.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
