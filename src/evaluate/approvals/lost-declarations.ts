import { kindOf } from '../../facts/kind-of.ts'
import { shown, shownObject } from '../../facts/shown.ts'
import { ociReference } from '../../fleet/artifacts/oci-reference.ts'
import { withOwnAddress } from '../../fleet/config/own-address.ts'
import { addressIn } from '../../fleet/model/address-in.ts'
import type { Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import { type DeclaredArtifact, type DeclaredSource, FLEET_FILE } from '../../fleet/model/fleet-config.ts'
import { refKey } from '../../fleet/model/ref.ts'
import { kindsThat } from '../../flux/kinds.ts'
import { stringAt } from '../../kube/node.ts'
import { idOf } from '../../kube/object.ts'
import type { RequiredApproval } from '../../rules/model/finding.ts'
import { onePerGroup } from './one-per-group.ts'

const RULE = 'source-opaque'

/**
 * What is evaluated now only because the fleet's file says what a source follows, where the change takes that out of the
 * file: the file counts as it was before the change, so the evaluation itself shows nothing of it.
 */
export function lostDeclarations(head: Fleet): RequiredApproval[] {
  const { config } = head
  const proposed = withOwnAddress(head.proposed, head.repositories[0]?.url ?? '')
  if (proposed.error) return []
  const sources = lostSources(config.sources, proposed.sources)
  const lost = [...config.aliases].filter(([address, url]) => addressIn(proposed.aliases, address) !== url)
  const artifacts = lostArtifacts(config.artifacts, proposed.artifacts)
  if (sources.length + lost.length + artifacts.length === 0) return []
  const followers = Map.groupBy(head.nodes, ({ hub, cluster, source }) => `${hub ?? cluster} ${source.id}`)
  return [
    ...sources.flatMap(({ kind, namespace, name, clusters = head.clusters.map(one => one.name) }) => {
      const nodes = clusters.flatMap(cluster => followers.get(`${cluster} ${kind}/${namespace}/${name}`) ?? [])
      return approvalOf(nodes, `follows ${shownObject(kind, namespace, name)}, which`)
    }),
    ...[...addressed(head, new Set([...lost.map(([address]) => address), ...artifacts]))].flatMap(
      ([address, sources]) => {
        const nodes = sources.flatMap(key => followers.get(key) ?? [])
        return approvalOf(
          nodes,
          `follows ${shown(address)}, whose ${artifacts.includes(address) ? 'content' : 'repository'}`,
        )
      },
    ),
  ]
}

/** The repositories of artifacts of which the file says something else from now on. */
function lostArtifacts(was: readonly DeclaredArtifact[], is: readonly DeclaredArtifact[]): string[] {
  const textOf = ({ address, path }: DeclaredArtifact) => JSON.stringify([address, path])
  const kept = new Set(is.map(textOf))
  return was.flatMap(one => (kept.has(textOf(one)) ? [] : [ociReference(one.address)?.repository ?? one.address]))
}

function lostSources(was: readonly DeclaredSource[], is: readonly DeclaredSource[]): DeclaredSource[] {
  const textOf = ({ kind, namespace, name, url, ref, clusters }: DeclaredSource) =>
    JSON.stringify([kind, namespace, name, url, refKey(ref), clusters ?? null])
  const kept = new Set(is.map(textOf))
  return was.filter(one => !kept.has(textOf(one)))
}

/** What a fleet's file can declare the content of. */
const FOLLOWABLE: ReadonlySet<string> = new Set(
  kindsThat(({ deployable, address }) => deployable && address?.form === 'url'),
)

/** The sources that are followed by some addresses, as `<cluster> <Kind>/<namespace>/<name>`, by the address. */
function addressed({ nodes }: Fleet, addresses: ReadonlySet<string>): Map<string, string[]> {
  const found = new Map<string, string[]>()
  if (addresses.size === 0) return found
  for (const { cluster, objects } of nodes) {
    for (const object of objects) {
      if (!FOLLOWABLE.has(kindOf(object))) continue
      const url = stringAt(object.root, ['spec', 'url']) ?? ''
      const { kind, namespace, name } = idOf(object)
      const address = [addressIn(new Map(), url), ociReference(url)?.repository ?? url].find(one => addresses.has(one))
      if (address === undefined) continue
      found.set(address, [...(found.get(address) ?? []), `${cluster} ${kind}/${namespace}/${name}`])
    }
  }
  return found
}

/** All Kustomizations that follow one declaration, together. */
function approvalOf(nodes: readonly FleetNode[], what: string): RequiredApproval[] {
  return onePerGroup(
    new Set(nodes),
    () => what,
    ({ namespace, name }, others) => {
      const message = `${shownObject('Kustomization', namespace, name)}${others} ${what} ${FLEET_FILE} no longer declares: nothing of it would be evaluated`
      return { rule: RULE, path: FLEET_FILE, message }
    },
  )
}
