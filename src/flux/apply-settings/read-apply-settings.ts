import { CelProgram } from '../../cel/cel-program.ts'
import { isSubdomain } from '../../kube/names.ts'
import type { Path } from '../../kube/node.ts'
import { groupOf, type KubeObject, type ObjectId } from '../../kube/object.ts'
import {
  type ApplySettings,
  DEFAULT_SETTINGS,
  DELETION_POLICIES,
  type DeletionPolicy,
  type HealthCheckExpr,
  type KubeConfigSetting,
  type ReadyExpr,
} from './apply-settings.ts'
import { readDuration } from './duration.ts'
import { readIgnoreRules } from './read-ignore-rules.ts'
import { type SettingsProblem, SettingsReader } from './settings-reader.ts'

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
