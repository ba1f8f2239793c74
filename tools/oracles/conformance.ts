import { conformanceOf, corpus, exceptions } from './corpus.ts'
import { shapeOf } from './outcome.ts'

/** `npm run conformance`: the cases of kustomize's own tests, counted. Fails for a wrong build, for a refusal of what is in scope, and without the cases. */
function main(): number {
  const cases = corpus()
  if (!cases) {
    console.error('error: ../shared/oracles/kustomize-corpus.json is not beside the project, so nothing was compared')
    return 2
  }
  const stricter = exceptions()
  const results = cases.map(example => ({ name: example.name, ...conformanceOf(example, stricter) }))
  const refused = results.filter(result => result.verdict === 'refused')
  const beyond = refused.filter(result => result.beyond.length > 0)
  const inScope = refused.filter(result => result.beyond.length === 0)
  const strict = results.filter(result => result.verdict === 'stricter')
  const wrong = results.filter(result => result.verdict === 'wrong')
  const equal = results.length - refused.length - strict.length - wrong.length

  list('refused, out of scope', beyond, result => result.beyond.join(' + '))
  list('stricter on purpose', strict, result => result.why)
  list('refused, though in scope', inScope, result => shapeOf(result.why))
  list('wrong', wrong, result => `${result.name}: ${result.difference}`)
  console.log(
    `${results.length} cases: ${equal} equal, ${beyond.length} refused, ${strict.length} stricter on purpose, ` +
      `${wrong.length} wrong, ${inScope.length} refused though in scope`,
  )
  return wrong.length > 0 || inScope.length > 0 ? 1 : 0
}

function list<T extends { readonly name: string }>(title: string, results: readonly T[], group: (result: T) => string) {
  if (results.length === 0) return
  console.log(`\n${title}: ${results.length}`)
  const groups = [...Map.groupBy(results, group)].sort(([, a], [, b]) => b.length - a.length)
  for (const [name, members] of groups) {
    console.log(`  ${members.length} ${name}`)
    if (!name.startsWith(members[0]!.name)) console.log(`      ${members.map(({ name }) => name).join(' ')}`)
  }
  console.log('')
}

process.exitCode = main()
