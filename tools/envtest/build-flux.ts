import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FLUX_MODULES, findFlux, fluxDirectory } from './flux-assets.ts'

type Module = (typeof FLUX_MODULES)[keyof typeof FLUX_MODULES]

/**
 * Builds kustomize-controller and the `flux` command from their Go modules, with the dependencies of their releases, and
 * keeps Flux's CustomResourceDefinitions beside them; once.
 */
export function buildFlux(): void {
  if (findFlux()) {
    console.log(`envtest: using ${fluxDirectory()}`)
    return
  }
  if (spawnSync('go', ['version']).status !== 0) {
    console.log('envtest: no Go, so no kustomize-controller: what is compared with it is skipped')
    return
  }
  const directory = fluxDirectory()
  const scratch = mkdtempSync(join(tmpdir(), 'bailiwick-flux-'))
  try {
    const controller = copyOf(FLUX_MODULES.controller, join(scratch, 'controller'))
    // the release replaces its own API by a folder that is not part of the module
    execFileSync('go', ['mod', 'edit', `-dropreplace=${FLUX_MODULES.controller.path}/api`], { cwd: controller })
    build(controller, '.', join(directory, 'kustomize-controller'))
    const cli = copyOf(FLUX_MODULES.cli, join(scratch, 'cli'))
    // what `flux install` would apply is made by Flux's release, and no test installs Flux
    mkdirSync(join(cli, 'cmd/flux/manifests'))
    writeFileSync(join(cli, 'cmd/flux/manifests/none.yaml'), '# none\n')
    build(cli, './cmd/flux', join(directory, 'flux'))
    keepDefinitions(join(scratch, 'definitions'), join(directory, 'definitions'))
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
  console.log(`envtest: ready in ${directory}`)
}

/** The module cache is read-only, so a build that needs another file needs a copy. */
function copyOf(module: Module, target: string): string {
  cpSync(folderOf(module), target, { recursive: true })
  for (const entry of readdirSync(target, { recursive: true, withFileTypes: true })) {
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o755 : 0o644)
  }
  chmodSync(target, 0o755)
  return target
}

/** Its folder in the module cache, downloaded where it is not there. Throws where it is not the release that we know. */
function folderOf({ path, version, sum }: Module): string {
  const said = execFileSync('go', ['mod', 'download', '-json', `${path}@${version}`], { cwd: tmpdir() })
  const { Dir, Sum } = JSON.parse(said.toString()) as { Dir: string; Sum: string }
  if (Sum !== sum) throw new Error(`${path}@${version} has the hash ${Sum}, and ${sum} is expected`)
  return Dir
}

/** The target appears complete or not at all. */
function build(folder: string, pack: string, target: string): void {
  console.log(`envtest: building ${target} (some minutes the first time)`)
  const temporary = `${target}.${process.pid}.tmp`
  const flags = ['-mod=mod', '-trimpath', '-ldflags', '-s -w']
  const done = spawnSync('go', ['build', ...flags, '-o', temporary, pack], {
    cwd: folder,
    env: { ...process.env, CGO_ENABLED: '0', GOWORK: 'off' },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  if (done.status !== 0) {
    rmSync(temporary, { force: true })
    throw new Error(`go build ${pack} of ${folder} failed (its message is above)`)
  }
  renameSync(temporary, target)
}

function keepDefinitions(scratch: string, target: string): void {
  mkdirSync(scratch)
  for (const module of [FLUX_MODULES.controller, FLUX_MODULES.sources]) {
    const folder = join(folderOf(module), 'config/crd/bases')
    for (const name of readdirSync(folder)) {
      cpSync(join(folder, name), join(scratch, name))
      chmodSync(join(scratch, name), 0o644)
    }
  }
  rmSync(target, { recursive: true, force: true })
  const temporary = `${target}.${process.pid}.tmp`
  cpSync(scratch, temporary, { recursive: true })
  renameSync(temporary, target)
}
