import type { Fleet, FleetNode } from '../fleet/model/fleet.ts'
import { at, itemsOf, stringAt } from '../kube/node.ts'
import { idOf, type KubeObject } from '../kube/object.ts'
import { SecretWords } from './secret-words.ts'

/** The Secrets of fleets whose values may stand in what their Kustomizations render. */
export class SecretsBeside {
  readonly #fleets: readonly Fleet[]
  #secrets: ReadonlyMap<string, readonly KubeObject[]> | undefined

  constructor(...fleets: readonly Fleet[]) {
    this.#fleets = fleets
  }

  /** The words of the Secrets that nodes render, or have substituted from. */
  of(...nodes: readonly (FleetNode | undefined)[]): SecretWords {
    const words = new SecretWords()
    for (const node of nodes) {
      for (const object of node?.objects ?? []) words.add(object)
      for (const key of node ? secretsNamed(node) : []) {
        this.#secrets ??= secretsOf(this.#fleets)
        for (const object of this.#secrets.get(key) ?? []) words.add(object)
      }
    }
    return words
  }
}

function secretsNamed({ cluster, namespace, kustomization }: FleetNode): string[] {
  return itemsOf(at(kustomization.root, ['spec', 'postBuild', 'substituteFrom'])).flatMap(item => {
    const name = stringAt(item, ['name'])
    return stringAt(item, ['kind']) === 'Secret' && name !== undefined ? [keyOf(cluster, namespace, name)] : []
  })
}

function secretsOf(fleets: readonly Fleet[]): Map<string, KubeObject[]> {
  const found = new Map<string, KubeObject[]>()
  for (const { nodes } of fleets) {
    for (const { cluster, objects } of nodes) {
      for (const object of objects) {
        if (stringAt(object.root, ['kind']) !== 'Secret') continue
        const { namespace, name } = idOf(object)
        const key = keyOf(cluster, namespace, name)
        found.set(key, [...(found.get(key) ?? []), object])
      }
    }
  }
  return found
}

const keyOf = (...parts: readonly string[]): string => parts.join('\0')
