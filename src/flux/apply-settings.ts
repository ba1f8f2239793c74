import { unlessRefused } from '../base/errors.ts'
import type { Origin } from '../base/origin.ts'
import { CelProgram } from '../expr/cel-program.ts'
import { checkPattern } from '../expr/regexp/pattern.ts'
import { at, type Node, originAt, type Path } from '../kube/node.ts'
import { groupOf, isSubdomain, type KubeObject, type ObjectId } from '../kube/object.ts'
import { matchesSelector } from '../kustomize/select/select.ts'

/** What becomes of the objects when the Kustomization itself is removed; `MirrorPrune` follows `prune`. */
export const DELETION_POLICIES = ['MirrorPrune', 'Delete', 'WaitForTermination', 'Orphan'] as const
export type DeletionPolicy = (typeof DELETION_POLICIES)[number]

/** CEL expressions that replace kstatus for a kind; without a kind, for every kind of the group. */
interface HealthCheckExpr {
  readonly apiVersion: string
  readonly kind: string
  readonly current: string
  readonly failed?: string
  readonly inProgress?: string
}

/** Which objects an ignore rule is for: Go regular expressions that match the whole text, and label selectors. */
export interface IgnoreTarget {
  readonly group?: string
  readonly version?: string
  readonly kind?: string
  readonly name?: string
  readonly namespace?: string
  readonly labelSelector?: string
  readonly annotationSelector?: string
}

/** Fields that are left as the cluster has them. */
export interface IgnoreRule {
  /** JSON pointers (RFC 6901). */
  readonly paths: readonly string[]
  /** Absent: every object of the Kustomization. */
  readonly target?: IgnoreTarget
}

/** A dependency that is ready when an expression over the two Kustomizations says so. */
export interface ReadyExpr {
  /** `<namespace>/<name>`. */
  readonly dependency: string
  readonly expression: string
}

/** What `spec.kubeConfig` names in the namespace of the Kustomization. */
export interface KubeConfigSetting {
  readonly kind: 'Secret' | 'ConfigMap'
  readonly name: string
  /** Of a Secret; '' for Flux's default. */
  readonly key: string
}

/** How a Flux Kustomization wants to be applied, as plain JSON with the defaults of kustomize-controller filled in. */
export interface ApplySettings {
  readonly intervalMs: number
  /** After a failure. */
  readonly retryIntervalMs: number
  /** Of the health checks: `timeout`, else 30 s less than `interval`; at least 30 s. */
  readonly timeoutMs: number
  /** Deletes and creates again what cannot be changed in place. */
  readonly force: boolean
  readonly deletionPolicy: DeletionPolicy
  /** Every applied object must become healthy; `healthChecks` do not count then. */
  readonly wait: boolean
  readonly healthChecks: readonly ObjectId[]
  readonly healthCheckExprs: readonly HealthCheckExpr[]
  readonly ignore: readonly IgnoreRule[]
  readonly readyExprs: readonly ReadyExpr[]
  /** It is applied to the cluster that this leads to. */
  readonly kubeConfig?: KubeConfigSetting
  /** `reconcile.fluxcd.io/requestedAt` as git has it. */
  readonly requestedAt?: string
}

const MINUTE = 60_000

/** Of a Kustomization that says nothing, as `flux bootstrap` writes it. */
export const DEFAULT_SETTINGS: ApplySettings = {
  intervalMs: 10 * MINUTE,
  retryIntervalMs: 10 * MINUTE,
  timeoutMs: 10 * MINUTE - 30_000,
  force: false,
  deletionPolicy: 'MirrorPrune',
  wait: false,
  healthChecks: [],
  healthCheckExprs: [],
  ignore: [],
  readyExprs: [],
}

const REQUESTED_AT = 'reconcile.fluxcd.io/requestedAt'
const MIN_TIMEOUT_MS = 30_000

interface ReadSettings {
  readonly settings: ApplySettings
  /** Not empty: the Kustomization cannot be applied as it asks for. */
  readonly problems: readonly SettingsProblem[]
}

/** How the Kustomization wants to be applied (kustomize-controller 1.9, api/v1/kustomization_types.go). Never throws. */
export function readApplySettings(object: KubeObject, namespace: string): ReadSettings {
  const reader = new SettingsReader(object)
  const interval = duration(reader, ['spec', 'interval']) ?? DEFAULT_SETTINGS.intervalMs
  const timeout = duration(reader, ['spec', 'timeout']) ?? interval - MIN_TIMEOUT_MS
  const kubeConfig = readKubeConfigSetting(reader)
  const requestedAt = reader.text(['metadata', 'annotations', REQUESTED_AT])
  const settings: ApplySettings = {
    intervalMs: interval,
    retryIntervalMs: duration(reader, ['spec', 'retryInterval']) ?? interval,
    timeoutMs: Math.max(timeout, MIN_TIMEOUT_MS),
    force: reader.flag(['spec', 'force']),
    deletionPolicy: deletionPolicy(reader),
    wait: reader.flag(['spec', 'wait']),
    healthChecks: reader.items(['spec', 'healthChecks']).map(path => healthCheck(reader, path)),
    healthCheckExprs: healthCheckExprs(reader),
    ignore: readIgnoreRules(reader, ['spec', 'ignore']),
    readyExprs: reader.items(['spec', 'dependsOn']).flatMap(path => readyExpr(reader, path, namespace)),
    ...(kubeConfig === undefined ? {} : { kubeConfig }),
    ...(requestedAt === undefined ? {} : { requestedAt }),
  }
  return { settings, problems: reader.problems }
}

/** An expression, compiled to see whether it can be: Flux, too, applies nothing where one cannot (InvalidCELExpression). */
function celText(reader: SettingsReader, path: Path, declared?: readonly string[]): string | undefined {
  const text = reader.text(path)
  const program = text === undefined ? undefined : CelProgram.compile(text, declared)
  if (program && 'problem' in program) reader.refuse(path, 'a CEL expression that can be evaluated', program.problem)
  return text
}

function duration(reader: SettingsReader, path: Path): number | undefined {
  const text = reader.text(path)
  if (text === undefined) return undefined
  const found = readDuration(text)
  if (found === undefined) reader.refuse(path, 'a duration such as 10m or 1h30m (units ms, s, m, h)')
  return found
}

function deletionPolicy(reader: SettingsReader): DeletionPolicy {
  const path = ['spec', 'deletionPolicy']
  const text = reader.text(path)
  const policy = DELETION_POLICIES.find(one => one === (text ?? DEFAULT_SETTINGS.deletionPolicy))
  if (policy === undefined) reader.refuse(path, `one of ${DELETION_POLICIES.join(', ')}`)
  return policy ?? DEFAULT_SETTINGS.deletionPolicy
}

/** Without an apiVersion it is of apps/v1, as it was in v1beta1 (internal/inventory). */
function healthCheck(reader: SettingsReader, path: Path): ObjectId {
  return {
    apiVersion: reader.text([...path, 'apiVersion']) ?? 'apps/v1',
    kind: reader.required([...path, 'kind']),
    namespace: reader.text([...path, 'namespace']) ?? '',
    name: reader.required([...path, 'name']),
  }
}

function healthCheckExprs(reader: SettingsReader): HealthCheckExpr[] {
  const seen = new Set<string>()
  return reader.items(['spec', 'healthCheckExprs']).map(path => {
    const failed = celText(reader, [...path, 'failed'])
    const inProgress = celText(reader, [...path, 'inProgress'])
    celText(reader, [...path, 'current'])
    const apiVersion = reader.required([...path, 'apiVersion'])
    const kind = reader.text([...path, 'kind']) ?? ''
    const key = `${groupOf(apiVersion)}/${kind}`
    if (seen.has(key)) reader.refuse([...path, 'kind'], 'a kind that has no other entry in spec.healthCheckExprs')
    seen.add(key)
    return {
      ...{ apiVersion, kind, current: reader.required([...path, 'current']) },
      ...(failed === undefined ? {} : { failed }),
      ...(inProgress === undefined ? {} : { inProgress }),
    }
  })
}

function readyExpr(reader: SettingsReader, path: Path, namespace: string): ReadyExpr[] {
  const expression = celText(reader, [...path, 'readyExpr'], ['self', 'dep'])
  if (expression === undefined) return []
  const name = reader.required([...path, 'name'])
  return [{ dependency: `${reader.text([...path, 'namespace']) ?? namespace}/${name}`, expression }]
}

/** Exactly one of both, as the API server asks for; and never ignored, because it says on which cluster something is applied. */
function readKubeConfigSetting(reader: SettingsReader): KubeConfigSetting | undefined {
  const path = ['spec', 'kubeConfig']
  if (!reader.has(path)) return undefined
  const [secret, map] = ['secretRef', 'configMapRef'].map(field => reader.text([...path, field, 'name']))
  if ((secret === undefined) === (map === undefined)) {
    reader.refuse(path, 'exactly one of secretRef and configMapRef, with a name')
    return undefined
  }
  if (!isSubdomain(secret ?? map ?? '')) reader.refuse(path, 'the name of a Secret or ConfigMap')
  const key = reader.text([...path, 'secretRef', 'key']) ?? ''
  return secret === undefined ? { kind: 'ConfigMap', name: map!, key: '' } : { kind: 'Secret', name: secret, key }
}

const PATTERNS = ['group', 'version', 'kind', 'name', 'namespace'] as const
const SELECTORS = ['labelSelector', 'annotationSelector'] as const
const NO_LABELS: ReadonlyMap<string, string> = new Map()
/** RFC 6901: nothing, or steps that begin with a slash, in which a tilde is escaped. */
const POINTER = /^(?:\/(?:[^~/]|~[01])*)+$/
/** What names an object, or holds all of it: an apply without it is not of this object. */
const IDENTITY =
  /^\/(?:apiVersion|kind|metadata|metadata\/(?:name|namespace|uid|resourceVersion|managedFields(?:\/.*)?))$/

/** `spec.ignore` of a Kustomization: JSON pointers, and regular expressions and selectors as in patch targets. */
function readIgnoreRules(reader: SettingsReader, list: Path): IgnoreRule[] {
  return reader.items(list).map(rule => {
    const paths = reader.items([...rule, 'paths']).flatMap(path => pointerAt(reader, path))
    if (!reader.has([...rule, 'target'])) return { paths }
    return { paths, target: readTarget(reader, [...rule, 'target']) }
  })
}

function pointerAt(reader: SettingsReader, path: Path): string[] {
  const pointer = reader.required(path)
  if (pointer === '') return []
  if (POINTER.test(pointer) && !IDENTITY.test(pointer)) return [pointer]
  reader.refuse(path, 'a JSON pointer (RFC 6901) to a field below spec, data, or metadata.labels or annotations')
  return []
}

function readTarget(reader: SettingsReader, target: Path): IgnoreTarget {
  const read: Partial<Record<keyof IgnoreTarget, string>> = {}
  for (const key of [...PATTERNS, ...SELECTORS]) {
    const path = [...target, key]
    const text = reader.text(path)
    if (text === undefined) continue
    read[key] = text
    const isSelector = SELECTORS.some(one => one === key)
    if (!isReadable(text, isSelector))
      reader.refuse(path, isSelector ? 'a label selector' : 'a regular expression of Go')
  }
  return read
}

function isReadable(text: string, isSelector: boolean): boolean {
  const entry = { text, origin: { repository: '', file: '', line: 1, column: 1 } }
  return unlessRefused(false, () => {
    if (isSelector) matchesSelector(entry, NO_LABELS)
    else checkPattern(entry)
    return true
  })
}

/** Why a setting of a Kustomization cannot be honored, and the edit. */
export interface SettingsProblem {
  readonly message: string
  readonly fix: string
  readonly origin: Omit<Origin, 'via'>
}

/** Reads typed fields of an object and collects what is wrong with them; a field that is absent or null is not there. */
class SettingsReader {
  readonly problems: SettingsProblem[] = []
  readonly #root: Node

  constructor(object: KubeObject) {
    this.#root = object.root
  }

  text(path: Path): string | undefined {
    const node = this.#known(path)
    if (node === undefined) return undefined
    if (node.type === 'scalar' && typeof node.value === 'string') return node.value === '' ? undefined : node.value
    this.refuse(path, 'a string')
    return undefined
  }

  required(path: Path): string {
    const before = this.problems.length
    const found = this.text(path)
    if (found === undefined && this.problems.length === before) this.refuse(path, 'set')
    return found ?? ''
  }

  flag(path: Path): boolean {
    const node = this.#known(path)
    if (node === undefined) return false
    if (node.type === 'scalar' && typeof node.value === 'boolean') return node.value
    this.refuse(path, 'true or false')
    return false
  }

  /** The paths of the items of a list. */
  items(path: Path): Path[] {
    const node = this.#known(path)
    if (node === undefined) return []
    if (node.type === 'list') return node.items.map((_, index) => [...path, index])
    this.refuse(path, 'a list')
    return []
  }

  has(path: Path): boolean {
    return this.#known(path) !== undefined
  }

  /** `allowed` completes "is not ..." and says what to write; `why` is what is wrong with what is there. */
  refuse(path: Path, allowed: string, why?: string): void {
    const { via: _via, ...origin } = originAt(this.#root, path)
    const field = fieldText(path)
    const [message, fix] =
      allowed === 'set'
        ? [`${field} is missing`, `Set ${field}.`]
        : [`${field} is not ${allowed}${why === undefined ? '' : `: ${why}`}`, `Write ${allowed} at ${field}.`]
    this.problems.push({ message, fix, origin })
  }

  #known(path: Path): Node | undefined {
    const node = at(this.#root, path)
    if (node === undefined || (node.type === 'scalar' && node.value === null)) return undefined
    if (node.type !== 'scalar' || node.opaque === undefined) return node
    const { via: _via, ...origin } = originAt(this.#root, path)
    const message = `${fieldText(path)} has a value that only the cluster knows`
    this.problems.push({ message, fix: `Write the value at ${fieldText(path)} in git.`, origin })
    return undefined
  }
}

/** `spec.healthChecks[0].kind`. */
function fieldText(path: Path): string {
  return path.map((step, depth) => (typeof step === 'number' ? `[${step}]` : depth === 0 ? step : `.${step}`)).join('')
}

const DURATION = /^(?:[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h))+$/
const PART = /([0-9]+(?:\.[0-9]+)?)(ms|s|m|h)/g
const UNITS: ReadonlyMap<string, number> = new Map([
  ['ms', 1],
  ['s', 1_000],
  ['m', 60_000],
  ['h', 3_600_000],
])
/** Go counts nanoseconds in 64 bits: about 292 years. */
const MAX_MS = 2 ** 63 / 1e6
const MAX_TEXT = 100

/** Milliseconds of a duration as Flux's CustomResourceDefinitions allow it (`1h30m`, `1.5s`); undefined for another text. */
function readDuration(text: string): number | undefined {
  if (text.length > MAX_TEXT || !DURATION.test(text)) return undefined
  let sum = 0
  for (const [, amount, unit] of text.matchAll(PART)) sum += Number(amount) * UNITS.get(unit!)!
  return sum < MAX_MS ? sum : undefined
}
