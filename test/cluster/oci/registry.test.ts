import { hash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRegistry } from '../../../src/cluster/registry.ts'
import { registryHosts } from '../../../src/cluster/registry-api.ts'
import { openSnapshot } from '../../../src/git/tree.ts'
import { findProgram } from '../../repository/runner/programs.ts'
import { archiveOf } from './archive-of.ts'
import { CONTENT, startRegistry, type TestRegistry } from './start-registry.ts'

const program = findProgram('registry')
const hosts = (list: string, auths: Record<string, unknown> = {}) => registryHosts(list, JSON.stringify({ auths }))!

describe.skipIf(!program)('a real registry', () => {
  let registry: TestRegistry
  beforeAll(async () => {
    registry = await startRegistry(program!)
  })
  afterAll(() => registry?.close())
  const open = () => openRegistry(hosts(`http://${registry.host}`))
  /** A second attempt of a test finds a repository of its own. */
  let repositories = 0
  const url = (name = 'acme/app') => `oci://${registry.host}/${name}`

  test('an artifact is read by its tag and by its digest, and the tag moves', async () => {
    const first = await registry.push('acme/app', 'latest', { 'deploy/web.yaml': 'kind: ConfigMap\n' })
    expect(await open().headOf(url(), { tag: 'latest' })).toEqual({ digest: first })
    expect(await open().headOf(url(), { digest: first })).toEqual({ digest: first })
    const tree = openSnapshot((await open().content(url(), { tag: 'latest' }, first)).tree)
    expect(Buffer.from(tree.read('deploy/web.yaml')).toString()).toBe('kind: ConfigMap\n')
    const second = await registry.push('acme/app', 'latest', { 'deploy/web.yaml': 'kind: Secret\n' })
    expect(second).not.toBe(first)
    expect(await open().headOf(url(), { tag: 'latest' })).toEqual({ digest: second })
    expect(openSnapshot((await open().content(url(), { tag: 'latest' }, first)).tree).id).toBe(tree.id)
  })

  test('what is not there is undefined, not an error', async () => {
    expect(await open().headOf(url(), { tag: 'missing' })).toBeUndefined()
    expect(await open().headOf(url('acme/nothing'), { tag: 'latest' })).toBeUndefined()
    expect(await open().headOf(url(), { digest: `sha256:${'0'.repeat(64)}` })).toBeUndefined()
  })

  test('the layer is the one that is asked for, the first by default; an index leads to linux/amd64', async () => {
    const layers = await Promise.all(
      ['one', 'two'].map(async content => {
        const bytes = await archiveOf([{ name: content, content }])
        return { mediaType: `text/${content}`, digest: await registry.pushBlob('acme/two', bytes), size: bytes.length }
      }),
    )
    const settings = { mediaType: CONTENT, digest: await registry.pushBlob('acme/two', Buffer.from('{}')), size: 2 }
    const type = 'application/vnd.oci.image.manifest.v1+json'
    const manifest = { schemaVersion: 2, mediaType: type, config: settings, layers }
    const digest = await registry.pushManifest('acme/two', 'latest', manifest, type)
    const names = async (ref: Parameters<ReturnType<typeof open>['content']>[1], at = digest) =>
      (await open().content(url('acme/two'), ref, at)).tree.entries.map(({ path }) => path)
    expect(await names({ tag: 'latest' })).toEqual(['one'])
    expect(await names({ tag: 'latest', layer: 'text/two' })).toEqual(['two'])
    await expect(names({ tag: 'latest', layer: 'text/three' })).rejects.toThrow('no layer of the media type text/three')
    const indexType = 'application/vnd.oci.image.index.v1+json'
    const size = JSON.stringify(manifest).length
    const platform = { os: 'linux', architecture: 'amd64' }
    const manifests = [{ mediaType: type, digest, size, platform }]
    const index = await registry.pushManifest(
      'acme/two',
      'index',
      { schemaVersion: 2, mediaType: indexType, manifests },
      indexType,
    )
    expect(await names({ tag: 'index' }, index)).toEqual(['one'])
  })

  test('the revision that an artifact was built from is read from its manifest, of an index from that of its image', async () => {
    const layer = await archiveOf([{ name: 'a', content: 'a' }])
    const type = 'application/vnd.oci.image.manifest.v1+json'
    const settings = { mediaType: CONTENT, digest: await registry.pushBlob('acme/origin', Buffer.from('{}')), size: 2 }
    const layers = [{ mediaType: CONTENT, digest: await registry.pushBlob('acme/origin', layer), size: layer.length }]
    const push = (annotations: unknown) => {
      const manifest = { schemaVersion: 2, mediaType: type, config: settings, layers, annotations }
      return registry.pushManifest('acme/origin', 'latest', manifest, type)
    }
    const originOf = async (digest: string) =>
      (await open().content(url('acme/origin'), { tag: 'latest' }, digest)).originRevision
    const revision = 'org.opencontainers.image.revision'
    const said = await push({ [revision]: 'main@sha1:abc' })
    expect(await originOf(said)).toBe('main@sha1:abc')
    expect(await originOf(await push({ [revision]: 'x'.repeat(1024) }))).toHaveLength(1024)
    expect(await originOf(await push({ [revision]: 'x'.repeat(1025) }))).toBeUndefined()
    expect(await originOf(await push({ [revision]: '' }))).toBeUndefined()
    expect(await originOf(await push({}))).toBeUndefined()
    const indexType = 'application/vnd.oci.image.index.v1+json'
    const manifests = [{ mediaType: type, digest: said, size: 1, platform: { os: 'linux', architecture: 'amd64' } }]
    const index = { schemaVersion: 2, mediaType: indexType, manifests, annotations: { [revision]: 'other' } }
    expect(await originOf(await registry.pushManifest('acme/origin', 'index', index, indexType))).toBe('main@sha1:abc')
  })

  test('a range of versions is followed to the artifact of its latest tag, on as many pages as there are', async () => {
    const name = `acme/semver-${++repositories}`
    const push = (tag: string) => registry.push(name, tag, { 'deploy/version.yaml': `# ${tag}\n` })
    for (const tag of ['1.0.0', 'latest', '1.9.0', '2.0.0-rc.1']) await push(tag)
    const newest = await push('1.10.0')
    const at = (ref: Parameters<ReturnType<typeof open>['headOf']>[1]) => open().headOf(url(name), ref)
    expect(await at({ semver: '1.x' })).toEqual({ digest: newest, tag: '1.10.0' })
    const candidate = { ...(await at({ tag: '2.0.0-rc.1' })), tag: '2.0.0-rc.1' }
    expect(await at({ semver: '>=1.0.0-0', semverFilter: 'rc' })).toEqual(candidate)
    const later = await push('1.11.0')
    expect(await at({ semver: '1.x' })).toEqual({ digest: later, tag: '1.11.0' })
    await expect(at({ semver: '3.x' })).rejects.toThrow(`${name} on 127.0.0.1`)
    expect(await open().headOf(url('acme/nothing'), { semver: '*' })).toBeUndefined()
    // the same version twice: whatever source-controller takes, it is the same
    const body = { 'deploy/version.yaml': '# 1.11.0\n' }
    expect(await registry.push(name, 'v1.11.0', body)).toBe(later)
    expect((await at({ semver: '1.x' }))?.digest).toBe(later)
    await registry.push(name, 'v1.11.0', { 'deploy/version.yaml': '# other\n' })
    await expect(at({ semver: '1.x' })).rejects.toThrow('are the same version, and not the same artifact')
  })

  test('another registry is not asked, whatever its name looks like', async () => {
    const other = openRegistry(hosts('ghcr.io'))
    await expect(other.headOf(url(), { tag: 'latest' })).rejects.toThrow('is not in OCI_HOSTS')
    const https = openRegistry(hosts(registry.host))
    await expect(https.headOf(url(), { tag: 'latest' })).rejects.toThrow('does not answer')
  })
})

describe('a registry that lies', () => {
  const asked: string[] = []
  let answer: (request: IncomingMessage, response: ServerResponse) => void = () => {}
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url} ${request.headers.authorization ?? '-'}`)
    answer(request, response)
  })
  let host = ''
  beforeAll(async () => {
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterAll(() => server.close())
  const ask = async (auths = {}, ref: { tag: string; anonymous?: true } = { tag: 'latest' }) => {
    asked.length = 0
    return (await openRegistry(hosts(`http://${host}`, auths)).headOf(`oci://${host}/acme/app`, ref))?.digest
  }

  test.each([
    'http://169.254.169.254/latest/meta-data',
    'http://localhost:1/x',
    'https://evil.example/',
    'file:///etc/passwd',
  ])('a redirect to %s is not followed', async location => {
    answer = (_, response) => response.writeHead(307, { location }).end()
    await expect(ask()).rejects.toThrow('which is not in OCI_HOSTS')
    expect(asked).toHaveLength(1)
  })

  test('redirects end', async () => {
    answer = (_, response) => response.writeHead(302, { location: '/v2/again' }).end()
    await expect(ask()).rejects.toThrow('redirects more than 4 times')
  })

  test('a token server elsewhere is not asked, and gets no credentials', async () => {
    answer = (_, response) =>
      response.writeHead(401, { 'www-authenticate': 'Bearer realm="http://127.0.0.1:9/token"' }).end()
    await expect(ask({ [host]: { auth: 'dXNlcjpwYXNz' } })).rejects.toThrow(
      'leads to 127.0.0.1:9, which is not in OCI_HOSTS',
    )
  })

  test('a token is asked for with the credentials of the operator, but not where anybody may ask', async () => {
    const body = '{"layers":[]}'
    answer = (request, response) => {
      if (request.url?.startsWith('/token')) return response.end('{"token":"t0ken"}')
      if (request.headers.authorization === 'Bearer t0ken') return response.end(body)
      const realm = `http://${host}/token`
      return response.writeHead(401, { 'www-authenticate': `Bearer realm="${realm}",service="r"` }).end()
    }
    const digest = `sha256:${hash('sha256', body)}`
    expect(await ask({ [host]: { auth: 'dXNlcjpwYXNz' } })).toBe(digest)
    const scope = 'service=r&scope=repository%3Aacme%2Fapp%3Apull'
    expect(asked).toEqual([
      'GET /v2/acme/app/manifests/latest -',
      `GET /token?${scope} Basic dXNlcjpwYXNz`,
      'GET /v2/acme/app/manifests/latest Bearer t0ken',
    ])
    await ask({ [host]: { auth: 'dXNlcjpwYXNz' } }, { tag: 'latest', anonymous: true })
    expect(asked[1]).toBe(`GET /token?${scope} -`)
  })

  test('Basic credentials are sent where they are asked for, and to nobody else', async () => {
    answer = (request, response) =>
      request.headers.authorization
        ? response.end('{}')
        : response.writeHead(401, { 'www-authenticate': 'Basic realm="r"' }).end()
    expect(await ask({ [host]: { username: 'user', password: 'pass' } })).toMatch(/^sha256:/)
    expect(
      await ask({ [host]: { username: 'user', password: 'pass' } }, { tag: 'latest', anonymous: true }),
    ).toBeUndefined()
    expect(await ask({ 'other.example': { auth: 'dXNlcjpwYXNz' } })).toBeUndefined()
    expect(asked).toEqual(['GET /v2/acme/app/manifests/latest -'])
  })

  const range = () => {
    asked.length = 0
    return openRegistry(hosts(`http://${host}`)).headOf(`oci://${host}/acme/app`, { semver: '*' })
  }
  const tagsAnd = (link: string) => (request: IncomingMessage, response: ServerResponse) =>
    request.url?.includes('/tags/list')
      ? response.writeHead(200, { link }).end('{"tags":["1.0.0"]}')
      : response.end('{"layers":[]}')

  test.each([
    '<http://169.254.169.254/v2/acme/app/tags/list?last=a>; rel="next"',
    '<//evil.example/v2/acme/app/tags/list?last=a>; rel="next"',
    '</v2/other/app/tags/list?last=a>; rel="next"',
    '</v2/acme/app/../../secret/tags/list?last=a>; rel="next"',
    '</v2/acme/app/tags/list>; rel="next"',
    'nonsense',
  ])('the next page of tags is no other address: %s', async link => {
    answer = tagsAnd(link)
    await expect(range()).rejects.toThrow('leads from one page of tags to another address')
    expect(asked).toHaveLength(1)
  })

  test('pages of tags end, and so do tags', async () => {
    answer = tagsAnd('</v2/acme/app/tags/list?n=1000&last=1.0.0>; rel="next"')
    await expect(range()).rejects.toThrow('on more than 100 pages')
    expect(asked).toHaveLength(100)
    const tags = Array.from({ length: 20_001 }, (_, index) => `1.0.${index}`)
    answer = (_, response) => response.end(JSON.stringify({ tags }))
    await expect(range()).rejects.toThrow('has more than 20000 tags')
    answer = (_, response) => response.end('x'.repeat(4 * 2 ** 20 + 1))
    await expect(range()).rejects.toThrow('more than 4194304 bytes')
  })

  test.each(['{', '[]', '{"tags":{}}', '{"tags":"1.0.0"}', ''])(
    'tags like %s are an error of that artifact',
    async body => {
      answer = (_, response) => response.end(body)
      await expect(range()).rejects.toThrow('something else than a list of tags')
    },
  )

  test('what is no tag is none', async () => {
    const tags = ['../../x', '1.0.0/../../y', 7, null, '1.0.0?x', '']
    answer = (_, response) => response.end(JSON.stringify({ tags }))
    await expect(range()).rejects.toThrow('has no tag in *')
    expect(asked).toHaveLength(1)
  })

  test('content that is not what its digest names is refused, as is more than a manifest may hold', async () => {
    answer = (_, response) => response.writeHead(200, { 'docker-content-digest': `sha256:${'0'.repeat(64)}` }).end('{}')
    await expect(ask()).rejects.toThrow('other content than the digest names')
    answer = (_, response) => response.end('x'.repeat(4 * 2 ** 20 + 1))
    await expect(ask()).rejects.toThrow('more than 4194304 bytes')
    const registry = openRegistry(hosts(`http://${host}`))
    answer = (_, response) => response.end('{"layers":[]}')
    const content = registry.content(`oci://${host}/acme/app`, { tag: 'x' }, `sha256:${'0'.repeat(64)}`)
    await expect(content).rejects.toThrow('other content than the digest')
  })

  test.each(['{', '[]', 'null', '{"layers":{}}', '{"layers":[{"digest":"sha256:../../x"}]}', '{"manifests":[{}]}'])(
    'a manifest like %s is an error of that artifact',
    async body => {
      answer = (_, response) => response.end(body)
      const registry = openRegistry(hosts(`http://${host}`))
      const content = registry.content(`oci://${host}/acme/app`, { tag: 'x' }, `sha256:${hash('sha256', body)}`)
      await expect(content).rejects.toMatchObject({ code: 'source-unreadable' })
    },
  )

  test.each([500, 503, 429])('status %i is an error of that artifact', async status => {
    answer = (_, response) => response.writeHead(status).end()
    await expect(ask()).rejects.toThrow(`status ${status}`)
  })

  test('an answer that breaks off is an error of that artifact', async () => {
    answer = (_, response) => {
      response.writeHead(200, { 'content-length': '100' })
      response.write('{')
      setTimeout(() => response.destroy(), 20)
    }
    await expect(ask()).rejects.toMatchObject({ code: 'source-unreadable' })
  })
})

test('hosts are read exactly; credentials are secret', () => {
  expect(registryHosts('ghcr.io, http://registry.test:5000')).toEqual([
    { host: 'ghcr.io', scheme: 'https' },
    { host: 'registry.test:5000', scheme: 'http' },
  ])
  for (const bad of [
    '',
    'ghcr.io,',
    'GHCR.io',
    'ghcr.io/acme',
    'user@ghcr.io',
    'ftp://ghcr.io',
    '*',
    '*.io',
    'ghcr.io:0',
  ])
    expect(registryHosts(bad), bad).toBeUndefined()
  const [host] = hosts('ghcr.io', { 'https://ghcr.io/v2/': { auth: 'dXNlcjpwYXNz' } })
  expect(host?.authorization).toBe('Basic dXNlcjpwYXNz')
  expect(JSON.stringify(host)).not.toContain('dXNl')
  for (const bad of ['', '[', '{"auths":[]}', '{"auths":{"a":{}}}', '{"auths":{"a":{"auth":"\\u0000"}}}'])
    expect(() => registryHosts('ghcr.io', bad), bad).toThrow('OCI_CREDENTIALS_FILE')
})
