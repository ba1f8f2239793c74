import { HELM_RELEASE } from '../../flux/kinds.ts'
import { at, itemsOf, type Node, stringAt } from '../../kube/node.ts'
import { idOf, type KubeObject } from '../../kube/object.ts'
import type { AdmissionWorld } from '../admission/admission-world.ts'
import { matchesWildcard } from './jmespath/wildcard.ts'

export const EXCEPTION_KINDS = ['kyverno.io/PolicyException', 'policies.kyverno.io/PolicyException'] as const
/** The kinds that may hold Kyverno's flags. */
const SETTING_KINDS = ['apps/Deployment', HELM_RELEASE] as const

/** What the fleet shows of Kyverno's flags for PolicyExceptions; undefined: not shown. */
interface ExceptionSettings {
  /** `--enablePolicyException`. */
  readonly isEnabled: boolean | undefined
  /** `--exceptionNamespace`. */
  readonly namespace: string | undefined
}

/** The flags of Kyverno's admission controller, or the values of its Helm chart, where the platform renders one of them. */
export function exceptionSettings(world: Pick<AdmissionWorld, 'policies'>): ExceptionSettings | undefined {
  for (const kind of SETTING_KINDS) {
    for (const object of world.policies(kind)) {
      const found = settingsOf(kind, object)
      if (found) return found
    }
  }
  return undefined
}

/** Whether Kyverno reads the exceptions of a namespace. What the fleet does not show counts as if it does. */
function readsExceptions(settings: ExceptionSettings | undefined, group: string, namespace: string): boolean {
  if (settings?.isEnabled === false) return false
  const own = settings?.namespace
  if (own === undefined || own === '*') return true
  // Kyverno 1.19: an empty flag disables those of kyverno.io only
  return own === '' ? group !== 'kyverno.io' : own === namespace
}

/** Of some exceptions those that Kyverno reads; its command line reads all. */
export function readExceptions(
  world: AdmissionWorld,
  group: string,
  exceptions: readonly KubeObject[],
): readonly KubeObject[] {
  if (exceptions.length === 0 || world.given) return exceptions
  const settings = exceptionSettings(world)
  return exceptions.filter(exception => readsExceptions(settings, group, idOf(exception).namespace))
}

const kept = new WeakMap<KubeObject, ExceptionSettings | null>()

/** The settings in one object; undefined if it does not run or install Kyverno. */
function settingsOf(kind: string, object: KubeObject): ExceptionSettings | undefined {
  const known = kept.get(object)
  if (known !== undefined) return known ?? undefined
  const made = kind === SETTING_KINDS[0] ? ofDeployment(object) : ofRelease(object)
  kept.set(object, made ?? null)
  return made
}

const ENABLE = 'enablePolicyException'
const NAMESPACE = 'exceptionNamespace'

function ofDeployment(object: KubeObject): ExceptionSettings | undefined {
  if (!isAdmissionController(object)) return undefined
  const base = ['spec', 'template', 'spec', 'containers']
  for (const container of itemsOf(at(object.root, base))) {
    for (const key of ['args', 'command']) {
      const flags = flagsOf(at(container, [key]))
      const enabled = flags.get(ENABLE)
      if (enabled === undefined) continue
      return { isEnabled: /^(?:1|t|true)$/i.test(enabled), namespace: flags.get(NAMESPACE) ?? '' }
    }
  }
  return { isEnabled: undefined, namespace: undefined }
}

function isAdmissionController(object: KubeObject): boolean {
  const labels = at(object.root, ['metadata', 'labels'])
  const isPart = matchesWildcard('*kyverno*', stringAt(labels, ['app.kubernetes.io/part-of']) ?? '')
  const isOwn = stringAt(labels, ['app.kubernetes.io/component']) === 'admission-controller'
  return (isPart && isOwn) || idOf(object).name === 'kyverno-admission-controller'
}

/** Go's flags: `-name=value`, `--name=value`, `--name value`, and `--name` alone for a boolean; the last one counts. */
function flagsOf(list: Node | undefined): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  const args = itemsOf(list).map(one => (one.type === 'scalar' ? String(one.value) : ''))
  for (const [index, argument] of args.entries()) {
    const [, name, value] = /^--?(\w+)(?:=(.*))?$/s.exec(argument) ?? []
    if (name === ENABLE) found.set(name, value ?? 'true')
    if (name === NAMESPACE) found.set(name, value ?? args[index + 1] ?? '')
  }
  return found
}

/** A HelmRelease of the chart `kyverno`: its own values take precedence over those of `valuesFrom`. */
function ofRelease(object: KubeObject): ExceptionSettings | undefined {
  const chart = stringAt(object.root, ['spec', 'chart', 'spec', 'chart'])
  if (chart === undefined || !/(?:^|\/)kyverno$/.test(chart)) return undefined
  const base = ['spec', 'values', 'features', 'policyExceptions']
  const enabled = at(object.root, [...base, 'enabled'])
  const isEnabled = enabled?.type === 'scalar' && typeof enabled.value === 'boolean' ? enabled.value : undefined
  return { isEnabled, namespace: stringAt(object.root, [...base, 'namespace']) }
}
