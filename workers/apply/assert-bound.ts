import type { ClusterBinding } from '../../src/cluster/clusters-file.ts'
import { BailiwickError } from '../../src/errors.ts'
import type { Verdict } from '../../src/rules/model/finding.ts'

type Bound = Pick<ClusterBinding, 'name' | 'path'>

/** What is applied comes from the folder that the operator bound: no cluster of its name from elsewhere, and no assumed one. */
export function assertBound({ name, path }: Bound, { clusters }: Pick<Verdict, 'clusters'>): void {
  const cluster = clusters.find(one => one.name === name)
  if (!cluster) {
    assertNotRenamed({ name, path }, clusters)
    return
  }
  if (cluster.path === path && cluster.how !== 'assumed') return
  const message = `cluster ${name} starts from ${cluster.path || './'} (${cluster.how}), and clusters.yaml binds ${path || './'}: nothing is applied`
  throw new BailiwickError('not-permitted', message, { fix: 'Bind the folder that the cluster starts from.' })
}

/** A cluster that is called otherwise in the fleet has not gone: nothing of it may be pruned. */
function assertNotRenamed({ name, path }: Bound, clusters: Verdict['clusters']): void {
  const there = clusters.find(one => one.path === path)
  if (!there) return
  const message = `clusters.yaml binds ${path || './'} as ${name}, and the cluster that starts there is ${there.name}: nothing is applied`
  throw new BailiwickError('not-permitted', message, { fix: `Name it ${there.name} in clusters.yaml.` })
}
