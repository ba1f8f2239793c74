import { expect, test } from 'vitest'
import { conformanceOf, corpus, exceptions } from '../oracles/corpus.ts'

test('every case of the kustomize corpus is equal, or refused for what is out of scope', context => {
  const cases = corpus() ?? context.skip('no ../shared/oracles/kustomize-corpus.json beside the project')
  const results = cases.map(example => ({ name: example.name, ...conformanceOf(example) }))
  expect(results.filter(({ verdict }) => verdict === 'wrong')).toEqual([])
  expect(results.filter(result => result.verdict === 'refused' && result.beyond.length === 0)).toEqual([])
  expect(results.filter(({ verdict }) => verdict === 'equal' || verdict === 'both fail').length).toBeGreaterThan(298)
})

test('what is stricter on purpose names its reason', () => {
  expect(exceptions().length).toBeGreaterThan(0)
  for (const { reason } of exceptions()) expect(reason.split(' ').length).toBeGreaterThan(5)
})
