import { at, stringAt } from '../kube/node.ts'
import type { KubeObject } from '../kube/object.ts'
import type { ControllerFlag } from './fleet.ts'

/** The flags of Flux's controllers that are booleans: they never take the next argument as their value. */
const BOOLEAN = new Set([
  'no-cross-namespace-refs',
  'no-remote-bases',
  'watch-all-namespaces',
  'enable-leader-election',
  'leader-election-release-on-cancel',
  'insecure-kubeconfig-exec',
  'insecure-kubeconfig-tls',
  'insecure-allow-http',
])

/** The flags of a controller's Deployment, as pflag reads them: `--flag value` and `--flag=value`, in their order. */
export function flagsOf(deployment: KubeObject): readonly ControllerFlag[] {
  const containers = at(deployment.root, ['spec', 'template', 'spec', 'containers'])
  const items = containers?.type === 'list' ? containers.items : []
  const manager = items.find(item => stringAt(item, ['name']) === 'manager') ?? items[0]
  const list = at(manager, ['args'])
  const args = list?.type === 'list' ? list.items : []
  const texts = args.map(item => (item.type === 'scalar' ? String(item.value) : ''))
  const flags: ControllerFlag[] = []
  for (let index = 0; index < texts.length; index++) {
    const arg = texts[index]!
    if (arg === '--') break
    if (!arg.startsWith('--')) continue
    const { origin } = args[index]!
    const equals = arg.indexOf('=')
    const name = arg.slice(2, equals < 0 ? undefined : equals)
    let value = 'true'
    if (equals >= 0) value = arg.slice(equals + 1)
    else if (!BOOLEAN.has(name)) value = texts[++index] ?? ''
    flags.push({ name, value, origin })
  }
  return flags
}

/** The flags by name: the last one of a name wins, except that feature gates add up. */
export function flagMap(flags: readonly ControllerFlag[]): ReadonlyMap<string, string> {
  const map = new Map<string, string>()
  for (const { name, value } of flags) {
    const before = name === 'feature-gates' ? map.get(name) : undefined
    map.set(name, before === undefined ? value : `${before},${value}`)
  }
  return map
}

/** The flags that a controller's Deployment is started with, by name. */
export const controllerFlags = (deployment: KubeObject): ReadonlyMap<string, string> => flagMap(flagsOf(deployment))

/** Whether a boolean flag is on, in the spellings of Go's strconv.ParseBool. */
export function isOn(value: string | undefined): boolean {
  return value !== undefined && ['1', 't', 'T', 'TRUE', 'true', 'True'].includes(value)
}

/** What `--feature-gates` says about a gate; undefined where it says nothing. */
export function featureGate(flags: ReadonlyMap<string, string>, gate: string): boolean | undefined {
  const pairs = (flags.get('feature-gates') ?? '').split(',').map(pair => pair.trim().split('='))
  const last = pairs.findLast(([name]) => name?.trim() === gate)
  return last && isOn(last[1]?.trim())
}
