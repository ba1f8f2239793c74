import { existsSync, readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** The programs of a control plane: etcd and kube-apiserver, and kube-controller-manager where it is there. */
export interface Assets {
  readonly etcd: string
  readonly apiserver: string
  readonly controllerManager?: string
}

/** The release of kube-apiserver that go.mod pins. */
export function kubernetesVersion(): string {
  const version = /^\s*k8s\.io\/kubernetes (v[\d.]+)$/m.exec(readFileSync(join(import.meta.dirname, 'go.mod'), 'utf8'))
  if (!version) throw new Error('tools/envtest/go.mod names no version of k8s.io/kubernetes')
  return version[1]!
}

/** Where `npm run envtest` keeps what it built; outside the repository, one folder per release. */
export function assetsDirectory(): string {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache')
  return join(cache, 'bailiwick', 'envtest', kubernetesVersion())
}

/**
 * The programs of KUBEBUILDER_ASSETS (the variable that controller-runtime's envtest reads), else those that
 * `npm run envtest` built; undefined where there are none.
 */
export function findAssets(): Assets | undefined {
  const directories = [process.env.KUBEBUILDER_ASSETS, assetsDirectory()]
  for (const directory of directories) {
    if (!directory) continue
    const assets = { etcd: join(directory, 'etcd'), apiserver: join(directory, 'kube-apiserver') }
    if (!existsSync(assets.etcd) || !existsSync(assets.apiserver)) continue
    // kubebuilder's own archive has none, so it may lie in the cache while the others come from there
    const managers = [directory, assetsDirectory()].map(folder => join(folder, 'kube-controller-manager'))
    const controllerManager = managers.find(path => existsSync(path))
    return controllerManager ? { ...assets, controllerManager } : assets
  }
  return undefined
}

/** What a test prints when it is skipped because findAssets() found nothing. */
export const NO_ASSETS =
  'skipped: no kube-apiserver here; `npm run envtest` builds one (needs Go), or set KUBEBUILDER_ASSETS'

/** What a test prints that needs the controllers too. */
export const NO_CONTROLLERS = 'skipped: no kube-controller-manager here; `npm run envtest` builds one (needs Go)'
