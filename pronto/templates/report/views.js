// The views

function languages(found) {
  // Languages by models
  const entries = unique(found.map(r => r.entry)).sort((a, b) => collator.compare(a.name, b.name))
  const items = [...grouped(found, r => r.bible)].map(([bible, rs]) => ({
    bible,
    tasks: unique(rs.map(r => r.task)).length,
    of: grouped(rs, r => r.entry),
  }))
  const columns = [
    { key: 'language', text: 'Language', value: x => x.bible.language, show: x => toLanguage(x.bible) },
    { key: 'family', text: 'Family', wide: true, value: x => x.bible.family },
    { key: 'script', text: 'Script', wide: true, value: x => x.bible.script },
    ...entries.map(e => ({
      key: e.name,
      text: short(e.name),
      number: true,
      value: x => (x.of.has(e) ? mean(x.of.get(e).map(score)) : null),
      tint: x => {
        const up = x.of.has(e)
          ? (mean(
              x.of
                .get(e)
                .map(over)
                .filter(y => y != null),
            ) ?? 0)
          : 0
        return `color-mix(in srgb, var(--mark) ${Math.max(0, Math.min(45, 150 * up)).toFixed(0)}%, var(--back))`
      },
      show: x =>
        x.of.has(e)
          ? [
              figure(mean(x.of.get(e).map(score))),
              x.of.get(e).length < x.tasks && soft(`${x.of.get(e).length} of ${x.tasks}`),
            ]
          : '–',
    })),
  ]
  const saved = [{ key: 'bible', value: x => x.bible.code }, ...columns]
  return [
    table('matrix', columns, items, {
      title: 'Languages by models',
      saved,
      sort: 'language',
      note: `Mean of the metric over the tasks shown; a deeper colour means further above ${zero()}. If a model did not run on all tasks of a translation, their number is given.`,
    }),
    ...missing(found),
    ...map(found),
  ]
}

function missing(found) {
  // Which results are not there, of all models on all tasks of all translations shown
  const entries = unique(found.map(r => r.entry)),
    tasks = unique(found.map(r => r.task)),
    bibles = [...grouped(found, r => r.bible)]
  const items = bibles.flatMap(([bible, rs]) => {
    const of = grouped(rs, r => r.entry),
      lacks = entry => tasks.filter(t => !of.get(entry)?.some(r => r.task === t))
    return entries.map(entry => ({ bible, entry, tasks: lacks(entry) })).filter(x => x.tasks.length)
  })
  if (!items.length) return []
  const sum = xs => xs.reduce((n, x) => n + x.tasks.length, 0),
    whole = bibles.length * tasks.length * entries.length,
    each = [...grouped(items, x => x.entry)].map(([entry, xs]) => `${entry.name} ${sum(xs).toLocaleString('en')}`)
  const columns = [
    { key: 'language', text: 'Language', value: x => x.bible.language, show: x => toLanguage(x.bible) },
    { key: 'family', text: 'Family', wide: true, value: x => x.bible.family },
    { key: 'model', text: 'Model', value: x => x.entry.name, show: x => toModel(x.entry) },
    { key: 'tasks', text: 'Tasks', wrap: true, value: x => x.tasks.map(t => t.name).join(' ') },
    { key: 'missing', text: 'Missing', number: true, wide: true, value: x => x.tasks.length },
  ]
  const first = each.slice(0, 5).join(', ') + (each.length > 5 ? ` and ${each.length - 5} more models` : '')
  return [
    table('missing', columns, items, {
      title: 'What is missing',
      finding: `${sum(items).toLocaleString('en')} of ${count(whole, 'result')} (${count(bibles.length, 'translation')}, ${count(tasks.length, 'task')}, ${count(entries.length, 'model')}) are not there: ${first}.`,
      saved: [{ key: 'bible', value: x => x.bible.code }, ...columns],
      sort: '-missing',
    }),
  ]
}

function together(found) {
  // All models on the test sets that each of them ran on
  const entries = unique(found.map(r => r.entry)),
    sets = [...grouped(found, testSet).values()],
    shared = sets.filter(rs => rs.length === entries.length).flat()
  if (entries.length < 2) return []
  if (!shared.length) return [element('p', {}, 'No test set has all models, so that they cannot be compared on equal rows.')]
  const tasks = unique(shared.map(r => r.task)).sort((a, b) => a.order - b.order),
    translations = rs => unique(rs.map(r => r.bible)).length
  const items = [...grouped(shared, r => r.entry)].map(([entry, rs]) => {
    const byTask = grouped(rs, r => r.task),
      means = new Map(tasks.map(t => [t, mean(byTask.get(t).map(r => onCommonRows(r, 'score')))]))
    return { entry, means, mean: mean([...means.values()]) }
  })
  const columns = [
    { key: 'model', text: 'Model', value: x => x.entry.name, show: x => toModel(x.entry) },
    tasks.length > 1 && { key: 'mean', text: 'Mean', number: true, value: x => x.mean, show: x => figure(x.mean) },
    ...tasks.map(t => ({
      key: t.name,
      text: t.name,
      number: true,
      title: `${t.question} ${count(translations(shared.filter(r => r.task === t)), 'translation')}`,
      value: x => x.means.get(t),
      show: x => figure(x.means.get(t)),
    })),
  ]
  const n = shared.length / entries.length,
    left = sets.length - n,
    without = left ? `; left out: ${count(left, 'test set')} that a model lacks` : ''
  return [
    table('together', columns, items, {
      title: 'All models on equal rows',
      finding: `On the ${count(n, 'test set')} of ${count(translations(shared), 'translation')} that all ${entries.length} models ran on${without}.`,
      sort: tasks.length > 1 ? '-mean' : `-${tasks[0].name}`,
      note: `${metric.title}${metric.percent ? ' in percent' : ''}: the mean over translations for each task, then over tasks, of the rows that all translations have.`,
    }),
  ]
}

function compare(found) {
  const entries = unique(found.map(r => r.entry)).sort((a, b) => collator.compare(a.name, b.name)),
    of = name => entries.find(e => e.name === name)
  const sets = new Map([...grouped(found, r => r.entry)].map(([e, rs]) => [e, new Set(rs.map(testSet))]))
  const shared = (e, o) => [...sets.get(e)].filter(t => sets.get(o).has(t)).length
  const most = of => entries.reduce((best, e) => (best && of(best) >= of(e) ? best : e), undefined)
  const a = of(state.a) ?? most(e => (e.name === state.b ? -1 : sets.get(e).size)),
    b = of(state.b) ?? most(e => (e === a ? -1 : shared(a, e))) // Those with most in common
  const choose = (key, value) =>
    element(
      'label',
      {},
      key === 'a' ? 'First model' : 'Second model',
      element(
        'select',
        {
          name: key,
          id: key,
          onchange: e => {
            change({ a: a?.name, b: b?.name, [key]: e.target.value })
            by(key).focus()
          },
        },
        ...entries.map(e => {
          const o = element('option', { value: e.name }, e.name)
          o.selected = e === value
          return o
        }),
      ),
    )
  const pick = element(
    'p',
    { class: 'pick' },
    choose('a', a),
    choose('b', b),
    element(
      'button',
      {
        type: 'button',
        onclick: () => {
          change({ a: b?.name, b: a?.name })
        },
      },
      'Exchange',
    ),
  )
  if (!a || !b || a === b) return [pick, element('p', {}, 'Choose two different models.')]
  const testSets = [...grouped(found, testSet).values()]
    .map(rs => [rs.find(r => r.entry === a), rs.find(r => r.entry === b)])
    .filter(([x, y]) => x && y)
  const items = testSets.map(([x, y]) => ({
    x,
    y,
    difference: (metric.less ? -1 : 1) * (score(x) - score(y)),
    ...test(x, y),
  }))
  holm(items.map(t => t.p ?? null)).forEach((p, i) => {
    items[i].corrected = p
  })
  const clear = side => items.filter(t => t.corrected != null && t.corrected < 0.05 && side * t.difference > 0).length,
    tested = items.filter(t => t.p != null).length,
    few = items.some(t => t.x.fewSeeds || t.y.fewSeeds)
  const larger = Math.max(
      0.02,
      ...items.map(t => Math.max(Math.abs(t.high ?? t.difference), Math.abs(t.low ?? t.difference))),
    ),
    at = x => 60 + (58 * x) / larger
  const bar = t =>
    element(
      'svg',
      { class: 'bar', width: 120, height: 14, viewBox: '0 0 120 14', 'aria-hidden': 'true' },
      element('line', { x1: 60, x2: 60, y1: 0, y2: 14, class: 'zero' }),
      ...(t.low == null
        ? []
        : [
            element('rect', {
              x: at(t.low),
              y: 5,
              width: at(t.high) - at(t.low),
              height: 4,
              fill: 'var(--mark)',
              opacity: 0.45,
            }),
          ]),
      element('circle', { cx: at(t.difference), cy: 7, r: 3, fill: 'var(--mark)' }),
    )
  const columns = [
    { key: 'language', text: 'Language', value: t => t.x.bible.language, show: t => toLanguage(t.x.bible) },
    { key: 'task', text: 'Task', value: t => t.x.task.name },
    { key: 'first', text: a.name, number: true, value: t => score(t.x), show: t => toResult(t.x, figure(score(t.x))) },
    { key: 'second', text: b.name, number: true, value: t => score(t.y), show: t => toResult(t.y, figure(score(t.y))) },
    { key: 'difference', text: 'Difference', number: true, value: t => t.difference, show: t => signed(t.difference) },
    {
      key: 'low',
      text: '95 % interval',
      number: true,
      wide: true,
      value: t => t.low,
      show: t => [t.low == null ? '–' : `${signed(t.low)} to ${signed(t.high)}`, bar(t)],
    },
    { key: 'p', text: 'p', number: true, value: t => t.p, show: t => pValue(t.p) },
    {
      key: 'p_corrected',
      text: 'p corrected',
      number: true,
      value: t => t.corrected,
      show: t => pValue(t.corrected),
      best: t => t.corrected != null && t.corrected < 0.05,
    },
  ]
  const place = c => ['language', 'task', 'difference', 'p_corrected'].indexOf(c.key) + 1 || 9 // A phone shows the difference first
  const saved = [
    { key: 'first_model', value: () => a.name },
    { key: 'second_model', value: () => b.name },
    { key: 'bible', value: t => t.x.bible.code },
    ...columns.flatMap(c => (c.key === 'low' ? [c, { key: 'high', value: t => t.high }] : [c])),
  ]
  const verdict = tested
    ? `Clearly better (5 %, corrected for the ${count(tested, 'test')} shown): ${a.name} on ${clear(1)}, ${b.name} on ${clear(-1)}; no clear difference on ${tested - clear(1) - clear(-1)}.`
    : items.length
      ? few
        ? 'These results are not tested: a model that was trained with fewer than three seeds may score otherwise with another seed.'
        : 'These results are not tested.'
      : 'No test set has both models.'
  return [
    element('h2', {}, 'Compare two models'),
    pick,
    element(
      'p',
      { id: 'verdict' },
      verdict +
        (few && tested
          ? ' Where a model was trained with fewer than three seeds, another seed may give another result.'
          : ''),
    ),
    table('compare', narrow ? [...columns].sort((c, d) => place(c) - place(d)) : columns, items, {
      title: `${a.name} and ${b.name}`,
      saved,
      sort: '-difference',
      note: 'A positive difference means that the first is better. Paired permutation tests over chapters, with the spread of the seeds; "p corrected" by Holm for the rows shown.',
    }),
    ...together(found),
  ]
}
function test(x, y) {
  // Of two results on one test set
  const T = D.tests[metric.key],
    k = T?.at.get(`${x.i},${y.i}`) ?? T?.at.get(`${y.i},${x.i}`)
  if (k == null) return {}
  const ends = [T.low[k], T.high[k]].map(e => (e == null ? null : e / 1e6)),
    swapped = T.first[k] !== x.i
  return {
    p: T.p[k],
    low: swapped && ends[1] != null ? -ends[1] : ends[0],
    high: swapped && ends[0] != null ? -ends[0] : ends[1],
  }
}
