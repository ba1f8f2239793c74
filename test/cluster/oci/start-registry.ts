import { type ChildProcess, spawn } from 'node:child_process'
import { hash } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePorts } from '../../../tools/envtest/ports.ts'
import { archiveOf } from './archive-of.ts'

/** A real registry on this machine, and what `flux push artifact` does. */
export interface TestRegistry {
  /** `127.0.0.1:<port>`. */
  readonly host: string
  /** Pushes the files under the tag; the digest of the artifact. */
  push(repository: string, tag: string, files: Readonly<Record<string, string>>): Promise<string>
  /** Pushes a manifest as it is. */
  pushManifest(repository: string, tag: string, manifest: object, mediaType: string): Promise<string>
  /** Pushes bytes; their digest. */
  pushBlob(repository: string, bytes: Uint8Array): Promise<string>
  close(): Promise<void>
}

const MANIFEST = 'application/vnd.oci.image.manifest.v1+json'
export const CONTENT = 'application/vnd.cncf.flux.content.v1.tar+gzip'
const CONFIG = 'application/vnd.cncf.flux.config.v1+json'

export async function startRegistry(program: string): Promise<TestRegistry> {
  const directory = mkdtempSync(join(tmpdir(), 'bailiwick-registry-'))
  const host = `127.0.0.1:${(await freePorts(1))[0]}`
  const config = join(directory, 'config.yaml')
  const storage = `storage: {filesystem: {rootdirectory: ${directory}/data}}`
  writeFileSync(
    config,
    `version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\n${storage}\nhttp: {addr: ${host}}\n`,
  )
  const child = spawn(program, ['serve', config], { stdio: 'ignore', env: { OTEL_TRACES_EXPORTER: 'none' } })
  await listening(host, child)
  const base = `http://${host}/v2`
  const pushBlob = async (repository: string, bytes: Uint8Array) => {
    const digest = `sha256:${hash('sha256', bytes)}`
    const { headers } = await done(fetch(`${base}/${repository}/blobs/uploads/`, { method: 'POST' }))
    const url = new URL(headers.get('location') ?? '', base)
    url.searchParams.set('digest', digest)
    const body = new Uint8Array(bytes)
    await done(fetch(url, { method: 'PUT', body, headers: { 'content-type': 'application/octet-stream' } }))
    return digest
  }
  const pushManifest = async (repository: string, tag: string, manifest: object, mediaType: string) => {
    const body = JSON.stringify(manifest)
    const url = `${base}/${repository}/manifests/${tag}`
    await done(fetch(url, { method: 'PUT', body, headers: { 'content-type': mediaType } }))
    return `sha256:${hash('sha256', body)}`
  }
  return {
    host,
    pushBlob,
    pushManifest,
    async push(repository, tag, files) {
      const layer = await archiveOf(Object.entries(files).map(([name, content]) => ({ name, content })))
      const settings = Buffer.from('{}')
      const manifest = {
        schemaVersion: 2,
        mediaType: MANIFEST,
        config: { mediaType: CONFIG, digest: await pushBlob(repository, settings), size: settings.length },
        layers: [{ mediaType: CONTENT, digest: await pushBlob(repository, layer), size: layer.length }],
      }
      return pushManifest(repository, tag, manifest, MANIFEST)
    },
    async close() {
      child.kill()
      if (child.exitCode === null) await new Promise(resolve => child.once('exit', resolve))
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

async function listening(host: string, child: ChildProcess): Promise<void> {
  for (let left = 200; left > 0; left--) {
    if (child.exitCode !== null) throw new Error(`the registry ended with ${child.exitCode}`)
    const answer = await fetch(`http://${host}/v2/`).catch(() => undefined)
    if (answer?.ok) return
    await sleep(50)
  }
  throw new Error('the registry does not listen')
}

async function done(asked: Promise<Response>): Promise<Response> {
  const answer = await asked
  if (!answer.ok) throw new Error(`${answer.url}: ${answer.status} ${await answer.text()}`)
  return answer
}
