import type { MapNode, Node, Path, ScalarNode, ValueHolder } from '../../../kube/node.ts'

/** What several rules look for in every value of an object, found in one walk. */
interface ObjectScan {
  /** Texts with `${`. */
  readonly templated: readonly { readonly path: Path; readonly text: string }[]
  /** Unknown values: those that only the cluster has, and texts that look encrypted by SOPS. */
  readonly opaque: readonly { readonly path: Path; readonly holders: readonly ValueHolder[] }[]
  readonly encrypted: readonly Path[]
  /** Fields that a merge key brought, and switches that are a word. */
  readonly unclear: readonly { readonly path: Path; readonly how: 'merged' | 'word' }[]
  /** Keys and values with characters beyond ASCII. */
  readonly foreign: readonly { readonly path: Path; readonly text: string; readonly isKey: boolean }[]
}

const scans = new WeakMap<MapNode, ObjectScan>()
const NOTABLE = /[^\0-\x7f]|\$\{/
/** True to YAML 1.1, text since. */
const WORD = /^(?:y|yes|on)$/i
const SWITCH = new Set(
  (
    'privileged allowPrivilegeEscalation hostNetwork hostPID hostIPC shareProcessNamespace automountServiceAccountToken ' +
    'force suspend insecure recurseSubmodules passCredentials createNamespace'
  ).split(' '),
)
const BEYOND_ASCII = /[^\0-\x7f]/

/** Nodes never change, so that an object is walked once. */
export function scanObject(root: MapNode): ObjectScan {
  const known = scans.get(root)
  if (known) return known
  const scan = new Walker().walk(root)
  scans.set(root, scan)
  return scan
}

class Walker {
  private readonly path: (string | number)[] = []
  private readonly templated: { path: Path; text: string }[] = []
  private readonly opaque: { path: Path; holders: readonly ValueHolder[] }[] = []
  private readonly encrypted: Path[] = []
  private readonly unclear: { path: Path; how: 'merged' | 'word' }[] = []
  private readonly foreign: { path: Path; text: string; isKey: boolean }[] = []

  walk(root: MapNode): ObjectScan {
    this.node(root)
    const { unclear, templated, opaque, encrypted, foreign } = this
    return { unclear, templated, opaque, encrypted, foreign }
  }

  private node(node: Node): void {
    if (node.type === 'scalar') this.scalar(node)
    else if (node.type === 'list') for (const [index, item] of node.items.entries()) this.below(index, item)
    else {
      for (const [key, { value, merged }] of node.fields) {
        if (merged) this.unclear.push({ path: [...this.path, key], how: 'merged' })
        if (BEYOND_ASCII.test(key)) this.foreign.push({ path: [...this.path, key], text: key, isKey: true })
        this.below(key, value)
      }
    }
  }

  private below(step: string | number, node: Node): void {
    this.path.push(step)
    this.node(node)
    this.path.pop()
  }

  private scalar({ value, opaque }: ScalarNode): void {
    if (opaque) this.opaque.push({ path: [...this.path], holders: opaque })
    if (opaque || typeof value !== 'string') return
    if (value.startsWith('ENC[')) this.encrypted.push([...this.path])
    if (value.length <= 3 && WORD.test(value) && SWITCH.has(String(this.path.at(-1)))) {
      this.unclear.push({ path: [...this.path], how: 'word' })
    }
    if (!NOTABLE.test(value)) return
    if (value.includes('${')) this.templated.push({ path: [...this.path], text: value })
    if (BEYOND_ASCII.test(value)) this.foreign.push({ path: [...this.path], text: value, isKey: false })
  }
}
