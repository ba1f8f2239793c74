import { expect, test } from 'vitest'
import { readBinding, readRole } from '../../../../src/kube/rbac/binding.ts'
import { findAssets, NO_ASSETS } from '../../../../tools/envtest/assets.ts'
import { startCluster } from '../../../../tools/envtest/start.ts'
import { inParallel, pathOf } from './live-cluster.ts'
import { malformed } from './malformed-policy.ts'
import { plainObject } from './plain-object.ts'
import { NAMESPACES } from './random-world.ts'

test('what a real API server refuses as malformed grants nothing, and nothing else is refused', async ({ skip }) => {
  if (!findAssets()) return skip(NO_ASSETS)
  const cluster = await startCluster({ workerRbac: false })
  try {
    for (const name of NAMESPACES) await cluster.request('POST', '/api/v1/namespaces', { metadata: { name } })
    const cases = malformed()
    const answers = await inParallel(cases, object => cluster.request('POST', `${pathOf(object)}?dryRun=All`, object))
    const wrong = cases.flatMap((object, at) => {
      const read = readRole(plainObject(object)) ?? readBinding(plainObject(object))
      return (read !== undefined) === (answers[at]!.status === 201) ? [] : [{ object, theirs: answers[at]!.body }]
    })
    expect(wrong).toEqual([])
    expect(answers.filter(({ status }) => status === 201).length).toBeGreaterThan(5)
  } finally {
    await cluster.stop()
  }
})
