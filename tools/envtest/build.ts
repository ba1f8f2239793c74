import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { assetsDirectory, findAssets, kubernetesVersion } from './assets.ts'
import { buildFlux } from './build-flux.ts'
import { findFlux, fluxDirectory } from './flux-assets.ts'

const LOCK_WAIT_MS = 15 * 60_000

/**
 * Builds etcd, kube-apiserver and kube-controller-manager into the cache folder, once; says what it does. Throws with the
 * remedy where it cannot.
 */
async function build(): Promise<void> {
  const present = findAssets()
  if (present?.controllerManager) return console.log(`envtest: using ${dirname(present.apiserver)}`)
  if (spawnSync('go', ['version']).status !== 0) {
    if (present) return console.log('envtest: no Go, so no kube-controller-manager: what needs controllers is skipped')
    throw new Error(
      'Go is not installed. Install Go, or set KUBEBUILDER_ASSETS to a folder with etcd and kube-apiserver.',
    )
  }
  const directory = assetsDirectory()
  mkdirSync(directory, { recursive: true })
  const unlock = await lock(join(directory, '.lock'))
  try {
    const found = findAssets()
    if (found?.controllerManager) return console.log(`envtest: another process has built ${directory}`)
    const version = kubernetesVersion()
    const minor = version.split('.')[1]
    const stamp = (name: string, value: string) => `-X k8s.io/component-base/version.${name}=${value}`
    const stamps = [stamp('gitVersion', version), stamp('gitMajor', '1'), stamp('gitMinor', String(minor))]
    const programs = found ? ['kube-controller-manager'] : ['kube-apiserver', 'kube-controller-manager']
    if (!found) goBuild('go.etcd.io/etcd/server/v3', join(directory, 'etcd'), '-s -w')
    for (const program of programs) {
      goBuild(`k8s.io/kubernetes/cmd/${program}`, join(directory, program), `-s -w ${stamps.join(' ')}`)
    }
    console.log(`envtest: ready in ${directory}`)
  } finally {
    unlock()
  }
}

/** The target appears complete or not at all. */
function goBuild(pack: string, target: string, ldflags: string): void {
  console.log(`envtest: building ${target} (some minutes the first time)`)
  const temporary = `${target}.${process.pid}.tmp`
  const done = spawnSync('go', ['build', '-trimpath', '-ldflags', ldflags, '-o', temporary, pack], {
    cwd: import.meta.dirname,
    env: { ...process.env, CGO_ENABLED: '0' },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (done.status !== 0) {
    rmSync(temporary, { force: true })
    throw new Error(`go build ${pack} failed (its message is above)`)
  }
  renameSync(temporary, target)
}

/** Waits while another build runs; the lock of a dead process is taken over. */
async function lock(path: string): Promise<() => void> {
  for (const started = Date.now(); Date.now() - started < LOCK_WAIT_MS; ) {
    try {
      writeFileSync(path, String(process.pid), { flag: 'wx' })
      return () => rmSync(path, { force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    if (!ownerAlive(path)) rmSync(path, { force: true })
    else await new Promise(resolve => setTimeout(resolve, 500))
  }
  throw new Error(`${path} is held by another build for more than 15 minutes. Stop it, or remove the file.`)
}

function ownerAlive(path: string): boolean {
  try {
    process.kill(Number(readFileSync(path, 'utf8')), 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

async function buildFluxOnce(): Promise<void> {
  if (findFlux()) return buildFlux()
  mkdirSync(fluxDirectory(), { recursive: true })
  const unlock = await lock(join(fluxDirectory(), '.lock'))
  try {
    buildFlux()
  } finally {
    unlock()
  }
}

if (import.meta.main) {
  try {
    await build()
    await buildFluxOnce()
  } catch (error) {
    console.error(`envtest: ${error instanceof Error ? error.message : error}`)
    process.exitCode = 1
  }
}
