import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Json } from '../../src/kube/node.ts'
import type { TestCluster } from './start.ts'

/** Takes the place of source-controller: serves what sources hold, and says so in their status. */
export interface Artifacts {
  /** Makes `files` what the GitRepository holds at `revision`, and creates it where it is missing. `origin`: what they were built from. */
  put(source: Source, revision: string, files: Readonly<Record<string, string>>, origin?: string): Promise<void>
  close(): Promise<void>
}

interface Source {
  readonly namespace: string
  readonly name: string
}

/** An HTTP server on loopback for the artifacts of the sources of a test's API server. */
export async function openArtifacts(cluster: TestCluster): Promise<Artifacts> {
  const served = new Map<string, Buffer>()
  const server = createServer((request, response) => {
    const content = served.get(request.url ?? '')
    if (content) response.writeHead(200, { 'Content-Type': 'application/gzip' }).end(content)
    else response.writeHead(404).end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    async put(source, revision, files, origin) {
      const content = pack(files)
      const digest = createHash('sha256').update(content).digest('hex')
      served.set(`/${digest}.tar.gz`, content)
      await writeStatus(cluster, source, {
        digest: `sha256:${digest}`,
        lastUpdateTime: new Date().toISOString(),
        path: `gitrepository/${source.namespace}/${source.name}/${digest}.tar.gz`,
        metadata: origin === undefined ? null : { 'org.opencontainers.image.revision': origin },
        revision,
        size: content.length,
        url: `${base}/${digest}.tar.gz`,
      })
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

function pack(files: Readonly<Record<string, string>>): Buffer {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-artifact-'))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    return execFileSync('tar', ['-czf', '-', '-C', folder, '.'], { maxBuffer: 1 << 28 })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function writeStatus(cluster: TestCluster, { namespace, name }: Source, artifact: Json): Promise<void> {
  const collection = `/apis/source.toolkit.fluxcd.io/v1/namespaces/${namespace}/gitrepositories`
  const metadata = { namespace, name }
  const kind = { apiVersion: 'source.toolkit.fluxcd.io/v1', kind: 'GitRepository' }
  const spec = { interval: '1h', url: `https://github.com/acme/${name}`, ref: { branch: 'main' } }
  const created = await cluster.request('POST', collection, { ...kind, metadata, spec })
  if (created.status !== 201 && created.status !== 409) throw new Error(JSON.stringify(created.body))
  const condition = {
    type: 'Ready',
    status: 'True',
    reason: 'Succeeded',
    message: 'stored artifact',
    lastTransitionTime: new Date().toISOString(),
    observedGeneration: 1,
  }
  const status = { artifact, conditions: [condition], observedGeneration: 1 }
  const { status: code, body } = await cluster.request(
    'PATCH',
    `${collection}/${name}/status`,
    { status },
    {
      contentType: 'application/merge-patch+json',
    },
  )
  if (code !== 200) throw new Error(JSON.stringify(body))
}
