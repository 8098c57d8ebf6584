// A page that was opened from a file must not start a worker, so the search runs in an invisible frame
if (location.protocol === 'file:') window.Worker = class extends EventTarget {
  constructor(url) {
    super()
    const frame = document.createElement('iframe')
    frame.hidden = true
    frame.title = 'Search'
    document.documentElement.append(frame)
    this.inside = frame.contentWindow
    this.inside.postMessage = data => this.dispatchEvent(new MessageEvent('message', {data}))
    this.loaded = new Promise(done => {
      const script = this.inside.document.createElement('script')
      script.src = url
      script.onload = done
      this.inside.document.head.append(script)
    })
  }
  postMessage(data) {
    this.loaded.then(() => this.inside.dispatchEvent(new MessageEvent('message', {data})))
  }
}
