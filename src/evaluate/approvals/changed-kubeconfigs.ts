import { kindOf } from '../../facts/kind-of.ts'
import type { Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import { KUSTOMIZE_GROUP } from '../../flux/kinds.ts'
import { withEmbedded } from '../../kube/capabilities/embedded-objects.ts'
import { fieldTexts } from '../../kube/field-texts.ts'
import { at } from '../../kube/node.ts'
import { idOf, type KubeObject, type ObjectId } from '../../kube/object.ts'
import type { Applier } from './remote-appliers.ts'

/** An object that holds a kubeconfig, or that a controller makes one of. */
interface Holder {
  readonly object: ObjectId
  readonly file: string
  /** All of it that may decide what the kubeconfig is. */
  readonly text: string
}

/** What the fleet renders of a kubeconfig, and who acts by it. */
interface ChangedKubeConfig {
  readonly applier: Applier
  readonly object: ObjectId
  readonly file: string
}

/**
 * The kubeconfigs that objects acted by before, too, and whose own objects are others than before: the Secret or ConfigMap,
 * or what makes it (an ExternalSecret). One for each, and only those that the platform renders.
 */
export function changedKubeConfigs(
  head: Fleet,
  base: Fleet,
  now: readonly Applier[],
  was: readonly Applier[],
): ChangedKubeConfig[] {
  const before = usesOf(was)
  const uses = new Map([...usesOf(now)].filter(([key]) => before.has(key)))
  if (uses.size === 0) return []
  const [old, young] = [holdersOf(base, uses), holdersOf(head, uses)]
  return [...uses].flatMap(([key, applier]) => {
    const [a, b] = [old.get(key) ?? [], young.get(key) ?? []]
    if (sorted(a).join() === sorted(b).join()) return []
    const known = new Set(a.map(({ text }) => text))
    const { object, file } = b.find(({ text }) => !known.has(text)) ?? b[0] ?? a[0]!
    return [{ applier, object, file }]
  })
}

const sorted = (holders: readonly Holder[]) => holders.map(({ text }) => text).sort()

const useKey = (cluster: string, kind: string, namespace: string, name: string) =>
  JSON.stringify([cluster, kind, namespace, name])

/** The Secrets and ConfigMaps that are named, each with the first that acts by it. */
function usesOf(appliers: readonly Applier[]): Map<string, Applier> {
  const uses = new Map<string, Applier>()
  for (const applier of appliers) {
    for (const { kind, name } of applier.refs) {
      const key = useKey(applier.cluster, kind, applier.id.namespace, name)
      if (kind !== '' && !uses.has(key)) uses.set(key, applier)
    }
  }
  return uses
}

function holdersOf({ nodes }: Fleet, uses: ReadonlyMap<string, Applier>): Map<string, Holder[]> {
  const found = new Map<string, Holder[]>()
  for (const node of nodes) {
    if (node.tenant !== undefined) continue
    for (const object of [...node.objects, ...(node.retained ?? [])]) {
      for (const key of keysOf(node, object)) {
        if (uses.has(key)) found.set(key, [...(found.get(key) ?? []), holderOf(object)])
      }
    }
  }
  return found
}

/** The Secrets and ConfigMaps that an object is or becomes. */
function keysOf({ cluster }: FleetNode, object: KubeObject): string[] {
  return withEmbedded(object).flatMap(one => {
    const kind = kindOf(one)
    if (kind !== '/Secret' && kind !== '/ConfigMap') return []
    const id = idOf(one)
    return [useKey(cluster, id.kind, id.namespace || idOf(object).namespace, id.name)]
  })
}

/** What says nothing about the content; the keys that SOPS encrypts for are no part of it either. */
const BESIDES = new Set(['apiVersion', 'metadata', 'status', 'sops'])
const OF_FLUX = `${KUSTOMIZE_GROUP}/`

function holderOf(object: KubeObject): Holder {
  const parts = fieldTexts(object.root, key => !BESIDES.has(key))
  // whether Flux applies it at all
  const marks = ['annotations', 'labels'].flatMap(part =>
    fieldTexts(at(object.root, ['metadata', part]), key => key.startsWith(OF_FLUX)),
  )
  const id = idOf(object)
  const text = JSON.stringify([id.kind, id.namespace, id.name, ...parts, ...marks])
  return { object: id, file: object.root.origin.file, text }
}
