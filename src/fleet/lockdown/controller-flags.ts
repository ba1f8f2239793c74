import { at, itemsOf, type Node, stringAt } from '../../kube/node.ts'
import type { KubeObject } from '../../kube/object.ts'
import type { ControllerFlag } from '../model/fleet.ts'

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

/**
 * The flags that a workload starts a controller with, as pflag reads them: `--flag value` and `--flag=value`, in their order.
 * None where it cannot be told what runs: another command, or an argument that a variable makes (`$(NAME)`), which may be
 * any flag.
 */
export function flagsOf(workload: KubeObject, controller: string): readonly ControllerFlag[] {
  const args = argumentsOf(managerOf(workload, controller), controller)
  const texts = args.map(item => (item.type === 'scalar' ? String(item.value) : ''))
  const flags: ControllerFlag[] = []
  for (let index = 0; index < texts.length; index++) {
    const arg = texts[index]!
    if (arg === '--') break
    if (isUnknownFlag(arg)) return []
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

/** The container that runs the controller: by its image, else the one that Flux calls `manager`, else the first. */
function managerOf({ root }: KubeObject, controller: string): Node | undefined {
  const items = itemsOf(at(root, ['spec', 'template', 'spec', 'containers']))
  const isItsImage = (item: Node) => imageName(stringAt(item, ['image']) ?? '') === controller
  return items.find(isItsImage) ?? items.find(item => stringAt(item, ['name']) === 'manager') ?? items[0]
}

const imageName = (image: string) =>
  image
    .replace(/@.*$/, '')
    .replace(/:[^/]*$/, '')
    .split('/')
    .at(-1)

/** Flux's images start their controller by themselves; a command of its own has to start it with the arguments behind it. */
function argumentsOf(container: Node | undefined, controller: string): readonly Node[] {
  const [command, args] = ['command', 'args'].map(field => {
    return itemsOf(at(container, [field]))
  }) as [readonly Node[], readonly Node[]]
  if (command.length === 0) return args
  const texts = command.map(item => stringAt(item, []) ?? '')
  const start = texts.findIndex(text => text.split('/').at(-1) === controller)
  const isPlain =
    start === 0 || (texts[0]!.split('/').at(-1) === 'tini' && texts.slice(1, start).every(one => one === '--'))
  return start >= 0 && isPlain ? [...command.slice(start + 1), ...args] : []
}

/** A variable in the value of a flag is an unknown value; in its name it may be any flag. */
const isUnknownFlag = (text: string) => /^[^=]*(?<!\$)\$\(/.test(text) && !/^--[a-z-]+=/.test(text)

/** The flags by name: the last one of a name wins, except that feature gates add up. */
export function flagMap(flags: readonly ControllerFlag[]): ReadonlyMap<string, string> {
  const map = new Map<string, string>()
  for (const { name, value } of flags) {
    const before = name === 'feature-gates' ? map.get(name) : undefined
    map.set(name, before === undefined ? value : `${before},${value}`)
  }
  return map
}

/** The same by name. */
export const controllerFlags = (workload: KubeObject, controller: string): ReadonlyMap<string, string> =>
  flagMap(flagsOf(workload, controller))

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
