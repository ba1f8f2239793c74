import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { conformanceOf, corpus, exceptions } from '../../tools/oracles/corpus.ts'

test('every case of the kustomize corpus is equal, or refused for what is out of scope', context => {
  const cases = corpus() ?? context.skip('no ../shared/oracles/kustomize-corpus.json beside the project')
  const results = cases.map(example => ({ name: example.name, ...conformanceOf(example) }))
  expect(results.filter(({ verdict }) => verdict === 'wrong')).toEqual([])
  expect(results.filter(result => result.verdict === 'refused' && result.beyond.length === 0)).toEqual([])
  const count = (...verdicts: string[]) => results.filter(({ verdict }) => verdicts.includes(verdict)).length
  expect(readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8')).toContain(
    `${results.length} cases: ${count('equal', 'both fail')} equal, ${count('refused')} refused with a reason, ${count('stricter')} refused on purpose, 0 wrong`,
  )
})

test('what is stricter on purpose names its reason', () => {
  expect(exceptions().length).toBeGreaterThan(0)
  for (const { reason } of exceptions()) expect(reason.split(' ').length).toBeGreaterThan(5)
})
