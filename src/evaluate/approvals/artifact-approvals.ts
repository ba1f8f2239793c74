import { shown } from '../../facts/shown.ts'
import type { Fleet, NodeSource } from '../../fleet/model/fleet.ts'
import { originAt } from '../../kube/node.ts'
import type { RequiredApproval } from '../../rules/model/finding.ts'
import { onePerGroup } from './one-per-group.ts'

/**
 * Changes of what brings content out of a registry that is evaluated as what git has: another address, tag, signature or
 * folder is another content, whatever the files of this repository say. So is one that is newly followed and only assumed, and
 * what another program pushes. One approval per source, or per file that decides what is pushed.
 */
export function artifactApprovals(head: Fleet, base: Fleet): RequiredApproval[] {
  const before = new Map(base.nodes.map(node => [node.key, node.source]))
  const known = new Map(base.nodes.map(({ source }) => [textOf(source), source]))
  const approvals = new Map<string, RequiredApproval>()
  const add = (one: RequiredApproval) => approvals.has(one.message) || approvals.set(one.message, one)
  for (const node of head.nodes) {
    const { source, cluster } = node
    const [was, same] = [before.get(node.key), known.get(textOf(source))]
    const path = originAt(node.kustomization.root, ['spec', 'sourceRef']).file
    if (was === undefined && source.artifact?.assumed !== undefined && !same) {
      const message = `${shown(source.id)} on cluster ${shown(cluster)} is new, and its content is only assumed: ${shownOf(source)}`
      add({ rule: 'source-opaque', path, message })
    } else if (was !== undefined && textOf(was) !== textOf(source)) {
      const message = `${shown(source.id)} on cluster ${shown(cluster)}: the OCI artifact, or what proves where it comes from, changes from ${shownOf(was)} to ${shownOf(source)}`
      add({ rule: 'source-verify-removed', path, message })
    } else if (same) for (const one of pushedOtherwise(source, same, head)) add(one)
  }
  return [...approvals.values()]
}

/** Files that decide what is pushed and that change; those in .github of the fleet's own repository are guarded as such. */
function pushedOtherwise({ artifact, url }: NodeSource, was: NodeSource, { repositories }: Fleet): RequiredApproval[] {
  if (!artifact || artifact.pushedBy === was.artifact?.pushedBy) return []
  const idsOf = (source: Pick<NodeSource, 'artifact'>) =>
    new Map(source.artifact?.pushedBy.map(({ path, id }) => [path, id]))
  const [old, now] = [idsOf(was), idsOf({ artifact })]
  const isGuarded = (path: string) => url === repositories[0]?.url && path.startsWith('.github/')
  return [...new Set([...old.keys(), ...now.keys()])]
    .filter(path => old.get(path) !== now.get(path) && !isGuarded(path))
    .map(path => {
      const message = `${shown(path)} of ${shown(url)} may decide what is pushed to ${shown(`oci://${artifact.address}`)}, which is evaluated as ./${artifact.folder}`
      return { rule: 'source-verify-removed', path, message }
    })
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
