import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { assetsDirectory, findAssets, kubernetesVersion } from '../../../tools/envtest/assets.ts'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'bailiwick-assets-'))
  vi.stubEnv('XDG_CACHE_HOME', directory)
  vi.stubEnv('KUBEBUILDER_ASSETS', '')
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(directory, { recursive: true })
})

function put(folder: string, ...names: string[]): void {
  mkdirSync(folder, { recursive: true })
  for (const name of names) writeFileSync(join(folder, name), '')
}

test('nothing is found on a fresh machine, and half of it is nothing', () => {
  expect(findAssets()).toBeUndefined()
  put(assetsDirectory(), 'etcd')
  expect(findAssets()).toBeUndefined()
})

test('what was built is found in the cache folder of its release', () => {
  const folder = join(directory, 'bailiwick', 'envtest', kubernetesVersion())
  put(folder, 'etcd', 'kube-apiserver')
  expect(findAssets()).toEqual({ etcd: join(folder, 'etcd'), apiserver: join(folder, 'kube-apiserver') })
})

test('the controllers are found beside the others, or in the cache folder alone', () => {
  put(assetsDirectory(), 'etcd', 'kube-apiserver', 'kube-controller-manager')
  const manager = join(assetsDirectory(), 'kube-controller-manager')
  expect(findAssets()?.controllerManager).toBe(manager)
  const own = join(directory, 'own')
  put(own, 'etcd', 'kube-apiserver')
  vi.stubEnv('KUBEBUILDER_ASSETS', own)
  expect(findAssets()).toMatchObject({ apiserver: join(own, 'kube-apiserver'), controllerManager: manager })
})

test('KUBEBUILDER_ASSETS comes first', () => {
  put(assetsDirectory(), 'etcd', 'kube-apiserver')
  const own = join(directory, 'own')
  put(own, 'etcd', 'kube-apiserver')
  vi.stubEnv('KUBEBUILDER_ASSETS', own)
  expect(findAssets()?.apiserver).toBe(join(own, 'kube-apiserver'))
})
