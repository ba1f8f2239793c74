import { oncePer } from '../../base/once-per.ts'
import { type MapNode, type Node, type Path, type ScalarNode, stringAt, type ValueHolder } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'

/** What several rules need from every value of an object, found in one walk. */
interface ObjectScan {
  /** Texts with `${`. */
  readonly templated: readonly { readonly path: Path; readonly text: string }[]
  /** Unknown values: those that only the cluster has, and texts that look encrypted by SOPS. */
  readonly opaque: readonly { readonly path: Path; readonly holders: readonly ValueHolder[] }[]
  readonly encrypted: readonly Path[]
  /** Fields from a merge key, and switches that are written as a word. */
  readonly unclear: readonly { readonly path: Path; readonly how: 'merged' | 'word' }[]
  /** Keys and values with characters beyond ASCII. */
  readonly foreign: readonly { readonly path: Path; readonly text: string; readonly isKey: boolean }[]
}

const NOTABLE = /[^\0-\x7f]|\$\{/
/** True in YAML 1.1, text in later versions. */
const WORD = /^(?:y|yes|on)$/i
const SWITCH = new Set(
  (
    'privileged allowPrivilegeEscalation hostNetwork hostPID hostIPC shareProcessNamespace automountServiceAccountToken ' +
    'force suspend insecure recurseSubmodules passCredentials createNamespace'
  ).split(' '),
)
const BEYOND_ASCII = /[^\0-\x7f]/

/** Nodes never change, so an object is walked once. */
export const scanObject = oncePer((root: MapNode): ObjectScan => new Walker().walk(root))

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

const ACCOUNT = new Set(['serviceAccountName', 'serviceAccount', 'targetNamespace', 'storageNamespace'])
const REFERENCE = new Set(['sourceRef', 'chartRef', 'kubeConfig'])
const GRANT = new Set(['roleRef', 'subjects', 'rules'])
const SECURITY = new Set(
  (
    'privileged allowPrivilegeEscalation hostNetwork hostPID hostIPC hostUsers hostPath hostPort runAsUser runAsGroup ' +
    'runAsNonRoot procMount capabilities shareProcessNamespace automountServiceAccountToken'
  ).split(' '),
)
const STRUCTURE = new Set(
  'metadata spec template jobTemplate containers initContainers securityContext labels annotations'.split(' '),
)

/** The meaning of a chart's values depends on the chart. */
const isOfChart = (path: Path) => path[0] === 'spec' && path[1] === 'values'

/** Whether a field decides what an object is, where it goes, who applies it or what it grants. */
export function isIdentity(group: string, path: Path): boolean {
  const [first, second] = path
  if (isOfChart(path)) return false
  if (path.length === 1 && (first === 'apiVersion' || first === 'kind')) return true
  if (path.length === 2 && first === 'metadata' && second === 'namespace') return true
  if (group === 'rbac.authorization.k8s.io' && typeof first === 'string' && GRANT.has(first)) return true
  if (first !== 'spec' && first !== 'template') return false
  return ACCOUNT.has(String(path.at(-1))) || path.some(step => typeof step === 'string' && REFERENCE.has(step))
}

/** Whether a field lets a pod out of its sandbox. */
export function isSecurity(path: Path): boolean {
  if (isOfChart(path) || path[0] === 'data' || path[0] === 'stringData') return false
  return path.some(step => typeof step === 'string' && SECURITY.has(step))
}

/** Whether a map or list at a path decides about more than one field. */
export function isStructure(path: Path): boolean {
  const last = path.at(-1)
  return path.length === 0 || (typeof last === 'string' && STRUCTURE.has(last) && !isOfChart(path))
}

const SUBSTITUTE_SWITCH = 'kustomize.toolkit.fluxcd.io/substitute'

/** Whether an object disables Flux's variable substitution, by label or annotation. */
export function isUnsubstituted({ root }: KubeObject): boolean {
  return ['labels', 'annotations'].some(field => stringAt(root, ['metadata', field, SUBSTITUTE_SWITCH]) === 'disabled')
}
