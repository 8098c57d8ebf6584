'use strict'
// The state of the page is in its address. A view is a function from the chosen results to sections; names are shown as text, never as HTML.
const by = id => document.getElementById(id)
const narrow = matchMedia('(max-width: 46rem)').matches
const BLOCK = narrow ? 20 : 50 // Rows of a long table that come into the page and leave it together
const VIEWS = {
  overview: 'Overview',
  languages: 'Languages',
  families: 'Families',
  results: 'Results',
  compare: 'Compare',
  questions: 'Questions',
}
const FILTERS = {
  protocol: 'Protocol',
  data: 'Data',
  metric: 'Metric',
  task: 'Task',
  language: 'Language',
  family: 'Family',
  script: 'Script',
  tier: 'Seen in pretraining',
  model: 'Model',
}
const COLOURS = ['#0072b2', '#d55e00', '#009e73', '#cc79a7', '#e69f00', '#56b4e9', '#7a6ff0', '#8c6d31']
const SHAPES = [
  ['●', 'M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0'],
  ['■', 'M-3.6-3.6h7.2v7.2h-7.2z'],
  ['◆', 'M0-5.2L5.2 0 0 5.2-5.2 0z'],
  ['▲', 'M0-5L5 4H-5z'],
  ['▼', 'M0 5L5-4H-5z'],
]
const SVG = ['svg', 'line', 'circle', 'path', 'rect', 'text', 'title']
let D, rows, state, metric, S // The data, all results, the address, the metric and its columns

// Small tools

function element(tag, attributes = {}, ...children) {
  const e = SVG.includes(tag)
    ? document.createElementNS('http://www.w3.org/2000/svg', tag)
    : document.createElement(tag)
  for (const [k, v] of Object.entries(attributes))
    k.startsWith('on') ? e.addEventListener(k.slice(2), v) : v != null && e.setAttribute(k, v)
  e.append(...children.filter(c => typeof c === 'string' || c instanceof Node)) // Without what a condition left out
  return e
}
const unique = xs => [...new Set(xs)]
const mean = xs => (xs.length ? xs.reduce((a, b) => a + b, 0) / xs.length : null)
const count = (n, what) => `${n.toLocaleString('en')} ${what}${n === 1 ? '' : 's'}`
const breakable = name => name.split(/(?<=[/_])/).flatMap((part, i) => (i ? [element('wbr'), part] : [part]))
const soft = text => element('span', { class: 'small' }, ` ${text}`)
const section = (name, title, note, ...parts) =>
  element(
    'section',
    { 'aria-labelledby': `h-${name}` },
    element('h2', { id: `h-${name}` }, title),
    element('p', { class: 'soft' }, note),
    ...parts,
  )
const collator = new Intl.Collator('en', { numeric: true })
const inOrder = (a, b, down) =>
  a == null
    ? b == null
      ? 0
      : 1
    : b == null
      ? -1
      : (down ? -1 : 1) * (typeof a == 'number' ? a - b : collator.compare(a, b))
function folded(attributes, summary, inside) {
  // What is made when it is opened
  const e = element('details', attributes, element('summary', {}, ...summary))
  const fill = () => e.children.length > 1 || e.append(...inside())
  attributes.open == null ? e.addEventListener('toggle', fill) : fill()
  return e
}
function grouped(xs, key) {
  const found = new Map()
  for (const x of xs) {
    const k = key(x)
    found.has(k) ? found.get(k).push(x) : found.set(k, [x])
  }
  return found
}
