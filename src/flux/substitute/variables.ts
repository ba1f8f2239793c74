import { BailiwickError, type ErrorCode } from '../../base/errors.ts'
import { oncePer } from '../../base/once-per.ts'
import type { Origin } from '../../base/origin.ts'
import { embeddedIn } from '../../kube/capabilities/embedded-objects.ts'
import { at, itemsOf, type MapNode, type ScalarNode, stringAt, type ValueHolder } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'
import { isSopsEncrypted } from '../../kube/sops.ts'
import { Allowance } from '../../kustomize/build-budget.ts'

/** What a variable of `spec.postBuild` stands for. */
export interface Variable {
  /** The value without its line breaks; '' where `hidden` says why it is not known. */
  readonly value: string
  /** Where the value was written. */
  readonly origin: Origin
  /** `opaque`: only the cluster has it. `not-text`: bytes that are no UTF-8, which no manifest can hold. */
  readonly hidden?: 'opaque' | 'not-text'
  /** With `opaque`: where the value lies, each once; one without a key stands for the key that is asked for. */
  readonly holders?: readonly ValueHolder[]
  /** With `opaque`: nothing says that the cluster has it, beside what asks for it. */
  readonly undeclared?: true
}

/** Variables by name. */
export type Variables = ReadonlyMap<string, Variable>

/** What one ConfigMap or Secret gives. */
export interface VariableSource {
  readonly variables: Variables
  /** Stands for every other name: which ones there are is only known to the cluster. */
  readonly rest?: Variable
  /** Stands for a name that nothing sets, where Flux would refuse the object: it may be in what is optional and not known. */
  readonly unset?: Variable
}

/** Finds what `substituteFrom` names in the namespace of the Kustomization; undefined where there is none. */
export type FindVariableSource = (kind: SourceKind, name: string) => VariableSource | undefined

export type SourceKind = 'ConfigMap' | 'Secret'

/**
 * The variables that a ConfigMap or Secret gives: `data`, that of a Secret decoded, line breaks removed. What is
 * encrypted in git is unknown and lies in this object; what substitution put there lies where it came from. Throws `flux-invalid` for data that the API server refuses.
 */
export function variablesOf(root: MapNode): Variables {
  const secret = stringAt(root, ['kind']) === 'Secret'
  const data = at(root, ['data'])
  const variables = new Map<string, Variable>()
  if (data?.type !== 'map') {
    if (data && !(data.type === 'scalar' && data.value === null)) throw noText('data: not a map', data.origin)
    return variables
  }
  for (const [name, { value: node }] of data.fields) {
    if (node.type !== 'scalar' || typeof node.value !== 'string')
      throw noText('data: a value is not a string', node.origin)
    const { value, origin } = node
    const own = unknownVariable(origin, node.opaque?.length ? node.opaque : [holderOf(root, name)])
    if (node.opaque || isEncrypted(value)) variables.set(name, own)
    else variables.set(name, secret ? (decoded(value, origin) ?? own) : plainVariable(value, origin))
  }
  return variables
}

/** A variable of a value as it is written. */
export function plainVariable(value: string, origin: Origin): Variable {
  return { value: value.replaceAll('\n', ''), origin }
}

/** A variable of a value that only the cluster has, and where it lies. */
export const unknownVariable = (origin: Origin, holders: readonly ValueHolder[]): Variable => ({
  value: '',
  origin,
  hidden: 'opaque',
  holders,
})

/** An object as the holder of one of its values. */
export function holderOf(root: MapNode, key: string): ValueHolder {
  const written = stringAt(root, ['kind'])
  const kind = written === 'Secret' || written === 'Kustomization' ? written : 'ConfigMap'
  const text = (field: string) => stringAt(root, ['metadata', field]) ?? ''
  return { kind, namespace: text('namespace'), name: text('name'), key }
}

/** Undefined for what is encrypted. */
function decoded(value: string, origin: Origin): Variable | undefined {
  const base64 = value.replace(/[\r\n]/g, '')
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) {
    throw noText('data: a value is not valid base64', origin)
  }
  const text = textOf(Buffer.from(base64, 'base64'))
  if (text === undefined) return { value: '', origin, hidden: 'not-text' }
  return isEncrypted(text) ? undefined : plainVariable(text, origin)
}

/** The mark of SOPS: on a value by itself, or in a file that is one value. */
const isEncrypted = (text: string): boolean =>
  text.startsWith('ENC[') || isSopsEncrypted(text) || /(?:^|["' ])mac["']? *[:=] *["']?ENC\[/m.test(text)

function noText(message: string, origin: Origin): BailiwickError {
  return new BailiwickError('flux-invalid', message, { origin, fix: 'Correct the value as the API server requires.' })
}

/** A Secret or ConfigMap that a controller makes of an object; `variables` undefined: its keys are not in git. */
export interface MadeSource {
  readonly kind: SourceKind
  readonly namespace: string
  readonly name: string
  readonly variables: Variables | undefined
}

/** What controllers make of an object that gives values. Git has the keys of some, and the cluster their values. */
export const madeSources = oncePer((object: KubeObject): readonly MadeSource[] =>
  embeddedIn(object).objects.flatMap(({ object: made }) => {
    const { apiVersion, kind, namespace, name } = idOf(made)
    if ((kind !== 'Secret' && kind !== 'ConfigMap') || groupOf(apiVersion) !== '') return []
    const variables = keysOf(object)?.map(key => {
      const holder = { kind: 'Secret', namespace, name, key } as const
      return [key, unknownVariable(object.root.origin, [holder])] as const
    })
    return [{ kind, namespace, name, variables: variables && new Map(variables) }]
  }),
)

/**
 * The keys of the Secret that an ExternalSecret makes: those of its template, which replaces what it reads, or those of
 * `data` (External Secrets Operator, applyTemplate). Undefined where a key may come of `dataFrom`, of `templateFrom` or by
 * merging, too, and for any other object.
 */
function keysOf(object: KubeObject): readonly string[] | undefined {
  const { root } = object
  const { apiVersion, kind } = idOf(object)
  if (kind !== 'ExternalSecret' || groupOf(apiVersion) !== 'external-secrets.io') return undefined
  const target = at(root, ['spec', 'target'])
  if ((stringAt(target, ['creationPolicy']) ?? 'Owner') !== 'Owner' || at(target, ['manifest'])) return undefined
  // one that is written once (CreatedOnce) may have the keys of an older version
  if ((stringAt(root, ['spec', 'refreshPolicy']) ?? 'Periodic') !== 'Periodic') return undefined
  const from = at(target, ['template', 'templateFrom'])
  const data = at(target, ['template', 'data'])
  if (itemsOf(from).length > 0 || (stringAt(target, ['template', 'mergePolicy']) ?? 'Replace') !== 'Replace')
    return undefined
  if (data?.type === 'map' && data.fields.size > 0) return [...data.fields.keys()]
  if (itemsOf(at(root, ['spec', 'dataFrom'])).length > 0) return undefined
  const keys = itemsOf(at(root, ['spec', 'data'])).map(item => at(item, ['secretKey']))
  if (keys.some(key => key?.type !== 'scalar' || typeof key.value !== 'string' || key.opaque)) return undefined
  return keys.map(key => String((key as ScalarNode).value))
}

/** What is substituted in the objects of one Kustomization. */
export interface Substitution {
  readonly variables: Variables
  /** Stands for every other name. */
  readonly rest?: Variable | undefined
  /** Stands for a name that nothing sets and that has no default. */
  readonly unset?: Variable | undefined
  /** Whether a variable that is not set is an error (Flux 2.9 on), and not the empty text. */
  readonly strict: boolean
  readonly budget: SubstitutionBudget
}

/** What the substitution of one Kustomization may use up, counted so that the same input always gives the same answer. */
const LIMITS = {
  /** Characters that expressions give, each result of a nested one counted too. */
  characters: 8 * 1024 * 1024,
  /** Comparisons of one character with one part of a glob. */
  comparisons: 1_500_000,
  expressions: 200_000,
}

export type Spent = keyof typeof LIMITS

/** Expressions inside expressions. */
export const MAX_NESTING = 50

export class SubstitutionBudget {
  readonly allowance: Allowance<Spent>

  /** `scale`: how many times the usual limits. */
  constructor(scale = 1) {
    this.allowance = new Allowance(LIMITS, scale)
  }

  /** Throws `render-limits` when a Kustomization uses more of something than it may. */
  spend(what: Spent, amount: number, origin: Origin): void {
    if (this.allowance.take(what, amount)) return
    const message = `substitution needs more than ${this.allowance.limit(what)} ${what}`
    throw new BailiwickError('render-limits', message, { origin, fix: 'Use fewer variables or shorter values.' })
  }
}

/** Rule that forbids values which reach beyond the place that they are put into. */
export const INJECTION = 'substitution-injection'

/** Why a text cannot be substituted; the words of `flux-invalid` are those that Flux says. Never a value. */
export class TemplateError extends Error {
  override readonly name = 'TemplateError'
  readonly code: ErrorCode
  /** The rule that forbids it. */
  readonly rule: string | undefined

  constructor(message: string, code: ErrorCode = 'flux-invalid', rule?: string) {
    super(message)
    this.code = code
    this.rule = rule
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The text of bytes; undefined where they are no UTF-8. */
export function textOf(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}
