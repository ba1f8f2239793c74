import { expect, test } from 'vitest'
import type { MapNode } from '../../../../src/kube/node.ts'
import { parseDocuments } from '../../../../src/kube/yaml/parse-documents.ts'
import { checkObject } from '../../../../src/schema/check-object.ts'
import { CHANGES, changed } from './cases.ts'

const problems = (text: string, version = 36) => {
  const [root] = parseDocuments({ repository: '', path: 'a.yaml' }, Buffer.from(text))
  return checkObject(root as MapNode, { version }).problems.map(({ kind, path }) => `${kind} ${path.join('.')}`)
}

test.each(CHANGES.map(change => [change[0], change] as const))('%s', (_what, change) => {
  const expected = change[4]
  const found = problems(changed(change))
  if (expected === '') expect(found).toEqual([])
  else expect(found).toContain(expected)
})

test('a Service may begin with a digit since 1.36', () => {
  const text = changed(['', 'Service', 'name: x,', 'name: 1x,', ''])
  expect(problems(text, 35)).toEqual(['bad-format metadata.name'])
  expect(problems(text, 36)).toEqual([])
})

test('what only the cluster has is not judged', () => {
  const encrypted = 'ENC[AES256_GCM,data:a,iv:b,tag:c,type:str]'
  for (const [kind, from, to] of [
    ['Pod', 'serviceAccountName: runner', `serviceAccountName: "${encrypted}"`],
    ['Secret', 'stringData: {a: b}', `stringData: {a: "${encrypted}"}`],
    ['Pod', 'name: data,', `name: "${encrypted}",`],
    ['Service', 'type: NodePort', `type: "${encrypted}"`],
  ] as const)
    expect(problems(changed(['', kind, from, to, ''])), kind).toEqual([])
})
