import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { ARCHITECTURES } from '../../../build/image/architecture.ts'
import { writeImage } from '../../../build/image/write-image.ts'
import { findAssets, NO_ASSETS } from '../../../tools/envtest/assets.ts'
import { startRegistry } from '../../cluster/oci/start-registry.ts'
import { fleetFiles } from '../../fleet/fleets/read-fleet.ts'
import { hasRedis } from '../../workers/queue/start-redis.ts'
import { liveStatus } from '../../workers/story/live.ts'
import { openProcesses, type Processes } from '../../workers/story/processes.ts'
import { deploymentFile } from '../../workers/story/tenant-changes.ts'
import { findProgram, programs } from '../runner/programs.ts'
import { type ImageConfig, unpackImage } from './unpack-image.ts'

const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0
const namespaces = process.getuid?.() === 0 ? '-m' : '-mr'
const lacking = ['apt-get', 'dpkg-deb', `unshare && unshare ${namespaces} true`].find(program => !has(program))
const missing = lacking
  ? `no ${lacking}`
  : hasRedis
    ? findAssets()
      ? undefined
      : NO_ASSETS
    : programs['redis-server'].get
const HERE = ARCHITECTURES.find(({ npm }) => npm === process.arch)!
const SCRIPT = join(import.meta.dirname, 'in-image.sh')

describe.skipIf(missing)(`the image${missing ? ` (${missing})` : ''}`, () => {
  const directory = mkdtempSync(join(tmpdir(), 'bailiwick-oci-'))
  const root = join(directory, 'root')
  let image: ImageConfig
  let app: Processes | undefined
  beforeAll(async () => {
    await writeImage(join(directory, 'layout'), [HERE])
    image = unpackImage(join(directory, 'layout'), HERE.oci, root)
  }, 240_000)
  afterAll(async () => {
    await app?.close()
    rmSync(directory, { recursive: true, force: true })
  })

  const variables = () => Object.fromEntries(image.config.Env.map(text => text.split(/=(.*)/s).slice(0, 2)))
  const inImage = (
    command: readonly string[],
    env: Record<string, string> = {},
    shared = mkdtempSync(join(directory, 's-')),
  ) =>
    spawnSync(SCRIPT, [root, shared, ...command], {
      encoding: 'utf8',
      env: { ...variables(), IMAGE_PATH: variables().PATH, ...env, PATH: process.env.PATH },
    })

  test('every layer unpacks to the bytes that its configuration names', () => {
    const blobs = join(directory, 'layout/blobs/sha256')
    const digests = readdirSync(blobs).flatMap(name => {
      const bytes = readFileSync(join(blobs, name))
      if (bytes[0] !== 0x1f) return []
      return [`sha256:${createHash('sha256').update(gunzipSync(bytes)).digest('hex')}`]
    })
    expect([...image.rootfs.diff_ids].sort()).toEqual(digests.sort())
    expect(digests).toHaveLength(3)
  })

  test('a client of registries finds it well-formed, pushes it and pulls the same bytes', async ({ skip }) => {
    const [crane, registryProgram] = [findProgram('crane'), findProgram('registry')]
    if (crane === undefined) return skip(`no crane: ${programs.crane.get}`)
    if (registryProgram === undefined) return skip(`no registry: ${programs.registry.get}`)
    const [layout, pulled] = [join(directory, 'layout'), join(directory, 'pulled')]
    const registry = await startRegistry(registryProgram)
    onTestFinished(() => registry.close())
    const run = (...args: readonly string[]) => {
      const { status, stdout, stderr } = spawnSync(crane, args, { encoding: 'utf8' })
      expect({ args, status, stderr }).toMatchObject({ status: 0 })
      return stdout.trim()
    }
    const name = `${registry.host}/bailiwick:test`
    run('push', layout, name)
    const [{ digest }] = JSON.parse(readFileSync(join(layout, 'index.json'), 'utf8')).manifests
    expect(run('digest', name)).toBe(digest)
    run('validate', '--remote', name)
    const platform = `linux/${HERE.oci}`
    expect(JSON.parse(run('config', '--platform', platform, name))).toEqual(image)
    run('pull', '--format', 'oci', name, pulled)
    const blobsOf = (folder: string) => readdirSync(join(folder, 'blobs/sha256')).sort()
    expect(blobsOf(pulled)).toEqual(blobsOf(layout))
    for (const blob of blobsOf(layout)) {
      const [ours, theirs] = [layout, pulled].map(folder => readFileSync(join(folder, 'blobs/sha256', blob)))
      expect(ours!.equals(theirs!), blob).toBe(true)
    }
  })

  test('has no shell, no package manager and no node_modules; the command line runs', () => {
    for (const path of ['bin/sh', 'usr/bin', 'app/node_modules', 'usr/local/lib'])
      expect(existsSync(join(root, path))).toBe(false)
    const { stdout, stderr, status } = inImage(['node', 'dist/bailiwick.js', 'explain', 'namespace-confinement'])
    expect({ stderr, status }).toEqual({ stderr: '', status: 0 })
    expect(stdout).toContain('namespace-confinement')
  })

  test('a process writes nowhere but to /tmp and to its cache', () => {
    const script = `for (const path of ['/app/x', '/x', '/etc/x', '/tmp/x'])
      try { require('fs').writeFileSync(path, ''); console.log(path, process.getuid()) } catch {}`
    const { stdout, stderr } = inImage(['node', '--eval', script])
    expect({ stdout, stderr }).toEqual({ stdout: `/tmp/x ${process.getuid?.() === 0 ? 1000 : 0}\n`, stderr: '' })
  })

  test('the Dockerfile says the same', () => {
    const [, last = ''] = readFileSync('Dockerfile', 'utf8').split(/^FROM node:24-slim$/m)
    const { config } = image
    expect(last).toContain(`CMD ${JSON.stringify(config.Cmd).replaceAll(',', ', ')}`)
    expect(last).toContain(`HEALTHCHECK CMD ${JSON.stringify(config.Healthcheck.Test.slice(1)).replaceAll(',', ', ')}`)
    expect(last).toContain(`WORKDIR ${config.WorkingDir}\n`)
    expect(last).toContain('EXPOSE 3000\n')
    // of Debian's image: 1000
    expect([last.includes('USER node\n'), config.User]).toEqual([true, '1000:1000'])
    for (const text of config.Env.slice(1)) expect(last).toContain(text)
  })

  test('web process and worker evaluate a pull request, and apply what is merged', async () => {
    app = await openProcesses({
      commandOf: (program, folders) => [SCRIPT, root, folders.join(':'), 'node', `dist/${program}.js`],
    })
    const { github } = app
    await app.start({ ...variables(), IMAGE_PATH: variables().PATH!, PATH: process.env.PATH! })
    await app.settle()
    const repo = 'acme/dev-team'
    const kustomization = fleetFiles(repo)['base/kustomization.yaml']!
    const files = {
      'base/kustomization.yaml': kustomization.replace('  - widget.yaml\n', '  - widget.yaml\n  - report.yaml\n'),
      'base/report.yaml': deploymentFile('report'),
    }
    github.push({ repo, branch: 'report', parent: github.commitOf(repo, 'main'), files, as: 'dora' })
    const pull = github.openPullRequest({ repo, head: 'report', as: 'dora' }).issue.number
    await app.settle()
    const runOf = (ref: string, name: string) => github.checkRunsOf(repo, ref).findLast(one => one.name === name)
    expect(runOf('report', 'bailiwick / tenancy')).toMatchObject({ status: 'completed', conclusion: 'success' })
    expect(github.merge({ repo, pull, as: 'dora' })).toMatchObject({ status: 200 })
    await app.settle()
    expect(runOf('main', 'bailiwick / apply (staging)')).toMatchObject({ conclusion: 'success' })
    expect(await liveStatus(app.staging, '/apis/apps/v1/namespaces/apps/deployments/report')).toBe(200)
  }, 120_000)
})
