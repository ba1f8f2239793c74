import { shown } from '../../facts/shown.ts'
import type { Fleet, NodeSource } from '../../fleet/model/fleet.ts'
import { originAt } from '../../kube/node.ts'
import type { RequiredApproval } from '../../rules/model/finding.ts'
import { onePerGroup } from './one-per-group.ts'

/**
 * Changes of what brings content out of a registry that is evaluated as what git has: another address, tag, signature or
 * folder is another content, whatever the files of this repository say. Told once for a source.
 */
export function artifactApprovals(head: Fleet, base: Fleet): RequiredApproval[] {
  const before = new Map(base.nodes.map(node => [node.key, node.source]))
  const told = new Map<string, RequiredApproval>()
  for (const node of head.nodes) {
    const was = before.get(node.key)
    if (was === undefined || textOf(was) === textOf(node.source)) continue
    const path = originAt(node.kustomization.root, ['spec', 'sourceRef']).file
    const message = `${shown(node.source.id)} on cluster ${shown(node.cluster)}: the OCI artifact, or what proves where it comes from, changes from ${shownOf(was)} to ${shownOf(node.source)}`
    if (!told.has(message)) told.set(message, { rule: 'source-verify-removed', path, message })
  }
  return [...told.values()]
}

/**
 * Signatures that Flux asked for before it took what a cluster starts with, or what the platform lets a tenant deploy, and
 * now does not ask for or asks of another signer. No manifest has the source that a FluxInstance makes. One approval per source.
 */
export function verifyApprovals(head: Fleet, base: Fleet): RequiredApproval[] {
  const before = new Map(base.nodes.map(node => [node.key, node.source]))
  const tenants = new Map(head.nodes.map(node => [node.key, node.tenant]))
  const weakened = head.nodes.filter(({ key, parent, source, tenant }) => {
    const was = before.get(key)
    // what else the platform follows unseen is asked for as such
    const isPlatforms = parent === undefined || (tenant !== undefined && tenants.get(parent) === undefined)
    return isPlatforms && was?.verify !== undefined && was.verify !== source.verify && textOf(was) === textOf(source)
  })
  return onePerGroup(
    weakened,
    ({ cluster, source }) => JSON.stringify([cluster, source.id]),
    ({ cluster, source, kustomization, parent }) => {
      const spec = parent === undefined ? [] : ['spec', 'sourceRef']
      const what = source.verify === undefined ? 'is no longer verified' : 'is verified in another way'
      const message = `${shown(source.id)} on cluster ${shown(cluster)} ${what}: Flux would deploy content that it refused before`
      return { rule: 'source-verify-removed', path: originAt(kustomization.root, spec).file, message }
    },
  )
}

/** '' for a source that no artifact brings. */
const textOf = ({ artifact }: NodeSource): string =>
  artifact === undefined
    ? ''
    : JSON.stringify([artifact.address, artifact.folder, artifact.trust, artifact.assumed !== undefined])

const shownOf = ({ artifact, url, id }: NodeSource) =>
  artifact ? `${shown(`oci://${artifact.address}`)} (./${artifact.folder})` : shown(url || id)
