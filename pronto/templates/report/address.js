// The address

const parse = text => Object.fromEntries(new URLSearchParams(text))
function address(changes = {}) {
  const all = Object.entries({ ...state, ...changes }).filter(([k, v]) => v && !(k === 'view' && v === 'overview'))
  return '#' + new URLSearchParams(all)
}
function readAddress() {
  const kept = document.documentElement.dataset.view ?? ''
  const given = location.search.length > 1 || location.hash.length > 1
  state = {
    view: 'overview',
    ...(given ? { ...parse(location.search), ...parse(location.hash.slice(1)) } : parse(kept)),
  }
  const code = decodeURIComponent(location.hash.slice(1)) // `#wol` is the page of a translation
  if (D.bibles.some(b => b.code === code)) state = { view: 'language', of: code }
}
function change(changes) {
  // Stays on the view
  Object.assign(state, changes)
  history.replaceState(null, '', address())
  draw()
}
const link = (changes, ...text) => element('a', { href: address({ sort: '', ...changes }) }, ...text)
const short = model => (narrow ? model.split('/').pop() : model) // A phone has no room for the owner
const toModel = entry =>
  link({ view: 'model', of: entry.name }, ...breakable(short(entry.model)), entry.variant && soft(entry.variant))
const hub = (entry, text) =>
  entry.link ? [' ', element('a', { href: entry.link, title: `${entry.model} on the Hub` }, text)] : []
const toLanguage = b =>
  link({ view: 'language', of: b.code }, b.language, ...(b.language === b.code ? [] : [soft(b.code)]))
const toResult = (r, text) => link({ view: 'result', of: r.id }, text)
