import { at, stringAt } from '../../kube/node.ts'
import { groupOf, idOf, type KubeObject } from '../../kube/object.ts'

/** Every controller of Flux; the first two apply what tenants write. */
const FLUX_CONTROLLERS: readonly string[] = [
  'kustomize-controller',
  'helm-controller',
  'source-controller',
  'notification-controller',
  'image-reflector-controller',
  'image-automation-controller',
  'source-watcher',
]

/** A workload that runs a controller of Flux: the installed one, or another instance of it such as a shard. */
export interface RunningController {
  readonly name: string
  /** Which controller it runs. */
  readonly runs: string
  readonly object: KubeObject
}

const WORKLOADS = new Set(['Deployment', 'StatefulSet', 'DaemonSet'])

/**
 * What runs controllers of Flux among the objects of a cluster, those of an installation before others; nothing where
 * kustomize-controller is not installed there. Every instance acts with the same rights, whatever its name: shards are
 * Deployments called `<controller>-<shard>` (fluxcd.io/flux/installation/configuration/sharding). An instance is known by
 * its name beside the installed one, and anywhere by Flux's image.
 */
export function fluxControllers(objects: readonly KubeObject[]): RunningController[] {
  const workloads = objects.filter(isWorkload)
  const mains = workloads.filter(object => idOf(object).name === 'kustomize-controller')
  const main = mains.find(object => idOf(object).namespace === 'flux-system') ?? mains.at(-1)
  if (!main) return []
  const home = idOf(main).namespace
  const found = workloads.flatMap((object): RunningController[] => {
    const { namespace, name } = idOf(object)
    const runs = controllerRunBy(object, mains.includes(object) ? namespace : home)
    if (runs === undefined) return []
    return [{ name: namespace === home ? name : `${namespace}/${name}`, runs, object }]
  })
  const rank = ({ name, runs }: RunningController) => FLUX_CONTROLLERS.indexOf(runs) * 2 + (name === runs ? 0 : 1)
  return found.sort((a, b) => rank(a) - rank(b))
}

/** Which controller of Flux a workload runs, where Flux's own are installed in `home`; undefined for everything else. */
export function controllerRunBy(workload: KubeObject, home: string): string | undefined {
  const { namespace, name } = idOf(workload)
  return imageOf(workload) ?? (namespace === home ? namedBy(name) : undefined)
}

function isWorkload(object: KubeObject): boolean {
  const { apiVersion, kind } = idOf(object)
  return WORKLOADS.has(kind) && groupOf(apiVersion) === 'apps'
}

/** The controller whose name it has, or whose name it continues. */
const namedBy = (name: string) => FLUX_CONTROLLERS.find(one => name === one || name.startsWith(`${one}-`))

/** The controller whose image one of its containers has: `<registry>/fluxcd/<controller>`, also in a mirror. */
function imageOf({ root }: KubeObject): string | undefined {
  const containers = at(root, ['spec', 'template', 'spec', 'containers'])
  const images = containers?.type === 'list' ? containers.items.map(item => stringAt(item, ['image']) ?? '') : []
  for (const image of images) {
    const name = /(?:^|\/)fluxcd\/([a-z-]+)(?:[:@]|$)/.exec(image)?.[1]
    if (name !== undefined && FLUX_CONTROLLERS.includes(name)) return name
  }
  return undefined
}
