import type { Fleet, FleetNode } from '../../fleet/model/fleet.ts'
import { at, itemsOf, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'

/** Shorter values are a part of too many texts: such a text is secret only when it is the value. */
const MIN_PART = 4
/** Of a longer value its beginning is looked for. */
const MAX_PART = 64
/** What kustomize's hash of a content is made of (api/hasher: hexadecimal digits without those that could spell words). */
const GENERATED = /^(.+)-[2456789bcdfghkmt]{10}$/

/** The values of Secrets, so that no text is shown that holds one: substitution carries them anywhere. */
export class SecretWords {
  readonly #parts = new Set<string>()
  readonly #whole = new Set<string>()
  /** Names that kustomize made of what a Secret holds: a short value can be guessed from its hash. */
  readonly #names = new Map<string, string>()

  /**
   * The values of a Secret as they are written, encoded and decoded, and its name or that of a ConfigMap where it has the hash
   * of the content. Of any other object nothing is noted.
   */
  add({ root }: KubeObject): void {
    const kind = stringAt(root, ['kind'])
    if (kind !== 'Secret' && kind !== 'ConfigMap') return
    this.#noteName(stringAt(root, ['metadata', 'name']) ?? '')
    if (kind !== 'Secret') return
    for (const part of ['data', 'stringData']) {
      const values = at(root, [part])
      if (values?.type !== 'map') continue
      for (const { value } of values.fields.values()) {
        if (value.type !== 'scalar' || value.value === null || value.opaque) continue
        const text = String(value.value)
        this.#note(text)
        const other = part === 'data' ? Buffer.from(text, 'base64').toString() : Buffer.from(text).toString('base64')
        if (!other.includes('\ufffd')) this.#note(other)
      }
    }
  }

  /** Whether a text holds a value of a Secret. */
  isIn(text: string): boolean {
    if (this.#whole.has(text)) return true
    for (const part of this.#parts) if (text.includes(part)) return true
    return false
  }

  /** The text without hashes of what Secrets hold. */
  withoutHashes(text: string): string {
    let out = text
    for (const [name, plain] of this.#names) out = out.replaceAll(name, plain)
    return out
  }

  #note(value: string): void {
    // substitution removes line breaks
    for (const text of [value, value.trim(), value.replaceAll('\n', '')]) {
      if (text === '') continue
      this.#whole.add(text)
      if (text.length >= MIN_PART) this.#parts.add(text.slice(0, MAX_PART))
    }
  }

  #noteName(name: string): void {
    const plain = generatedBase(name)
    if (plain !== undefined) this.#names.set(name, `${plain}-*`)
  }
}

/** The name that a generator was given, of one with the hash of its content behind it. */
export function generatedBase(name: string): string | undefined {
  return GENERATED.exec(name)?.[1]
}

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
