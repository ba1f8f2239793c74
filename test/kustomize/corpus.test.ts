import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { BailiwickError } from '../../src/errors.ts'
import { openSnapshot, packSnapshot } from '../../src/git/snapshot.ts'
import { canonical } from '../../src/kube/node.ts'
import { parseDocuments } from '../../src/kube/parse-documents.ts'
import { build } from '../../src/kustomize/build.ts'

const CORPUS = join(import.meta.dirname, '..', '..', '..', 'shared', 'oracles', 'kustomize-corpus.json')

interface Case {
  readonly name: string
  readonly files: Readonly<Record<string, string>>
  readonly target: string
  readonly expected?: string
  readonly error?: unknown
}

function verdictOf(example: Case): 'equal' | 'fails, as it must' | 'refused' | 'wrong' {
  const clean = (path: string): string => path.replace(/^\.?\/?/, '').replace(/\/$/, '')
  const files = Object.entries(example.files).map(([path, content]) => ({ path: clean(path), content }))
  let got: string[]
  try {
    got = build(openSnapshot(packSnapshot(files)), '', clean(example.target)).map(object => canonical(object.root))
  } catch (error) {
    if (!(error instanceof BailiwickError)) throw error
    return example.error ? 'fails, as it must' : 'refused'
  }
  if (example.expected === undefined) return 'wrong'
  const want = parseDocuments({ repository: '', path: 'expected' }, Buffer.from(example.expected)).map(canonical)
  return JSON.stringify(got) === JSON.stringify(want) ? 'equal' : 'wrong'
}

test('every case of the kustomize corpus is equal or refused, never wrong', context => {
  if (!existsSync(CORPUS)) return context.skip('no ../shared/oracles/kustomize-corpus.json beside the project')
  const cases = JSON.parse(readFileSync(CORPUS, 'utf8')) as Case[]
  const counts = new Map<string, number>()
  const wrong: string[] = []
  for (const example of cases) {
    const verdict = verdictOf(example)
    counts.set(verdict, (counts.get(verdict) ?? 0) + 1)
    if (verdict === 'wrong') wrong.push(example.name)
  }
  console.log('kustomize corpus:', Object.fromEntries(counts))
  expect(wrong).toEqual([])
  expect(counts.get('equal')).toBeGreaterThanOrEqual(60)
})
