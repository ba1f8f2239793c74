import type { FleetIndex } from '../../../facts/fleet-index.ts'
import { HELM_RELEASE } from '../../../flux/kinds.ts'
import { stringAt } from '../../../kube/node.ts'
import { listAt } from './list-at.ts'

/** The newest minor version whose webhooks are known. */
const NEWEST = 14

/** The minor version of Capsule (0.x) that a cluster runs, by the version of its chart or its image; the newest known one where neither shows it. */
export function capsuleVersion(index: FleetIndex, cluster: string): number {
  for (const { object } of index.platformAnywhere(cluster, HELM_RELEASE)) {
    const chart = (field: string) => stringAt(object.root, ['spec', 'chart', 'spec', field]) ?? ''
    const minor = chart('chart') === 'capsule' ? minorOf(chart('version')) : undefined
    if (minor !== undefined) return minor
  }
  for (const { object } of index.platformAnywhere(cluster, 'apps/Deployment')) {
    for (const container of listAt(object.root, ['spec', 'template', 'spec', 'containers'])) {
      const [, tag] = /\/capsule:v?([0-9.]+)/.exec(stringAt(container, ['image']) ?? '') ?? []
      const minor = minorOf(tag ?? '')
      if (minor !== undefined) return minor
    }
  }
  return NEWEST
}

/** Of an exact version, or of a range within one minor version. */
function minorOf(version: string): number | undefined {
  const found = /^[=~^v ]*0\.([0-9]{1,3})(?:\.(?:[0-9]+|x|X|\*))?$/.exec(version)?.[1]
  return found === undefined ? undefined : Number(found)
}
