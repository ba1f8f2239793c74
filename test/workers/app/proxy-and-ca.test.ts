import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer as createProxy } from 'node:http'
import { createServer } from 'node:https'
import { type AddressInfo, connect, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { environment } from '../../surface/config/environment-of.ts'
import { runProgram } from './run-program.ts'

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-proxy-'))
const [key, ca] = [join(folder, 'key.pem'), join(folder, 'ca.pem')]
const servers: Server[] = []
/** What came to the GitHub with a certificate of its own, and through the proxy. */
const asked: string[] = []
const tunnels: string[] = []
let api = ''
let proxy = ''

beforeAll(async () => {
  const names = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const made = ['-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', key, '-out', ca]
  execFileSync('openssl', ['req', '-x509', ...made, ...names], { stdio: 'pipe' })
  const github = createServer({ key: readFileSync(key), cert: readFileSync(ca) }, (request, response) => {
    asked.push(`${request.method} ${request.url}`)
    response.writeHead(401, { 'content-type': 'application/json' }).end('{"message":"Bad credentials"}')
  })
  const between = createProxy((_, response) => response.writeHead(400).end())
  between.on('connect', (request, near) => {
    tunnels.push(request.url ?? '')
    const far = connect(Number(request.url!.split(':')[1]), '127.0.0.1', () => {
      near.write('HTTP/1.1 200 Connection established\r\n\r\n')
      far.pipe(near)
      near.pipe(far)
    })
    for (const [one, other] of [[near, far] as const, [far, near] as const]) one.on('error', () => other.destroy())
  })
  for (const server of [github, between]) {
    servers.push(server)
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  }
  api = `https://localhost:${(github.address() as AddressInfo).port}/api/v3`
  proxy = `http://127.0.0.1:${(between.address() as AddressInfo).port}`
})
afterAll(() => {
  for (const server of servers) server.close()
  rmSync(folder, { recursive: true, force: true })
})

/** The end of a start whose key this GitHub refuses, if it is reached. */
async function start(more: Readonly<Record<string, string>>) {
  const settings = environment({ CACHE_DIR: folder, GITHUB_API_URL: api, ...more })
  const program = runProgram(['node', 'src/index.ts'], settings)
  const refused = program.exit.then(code => `${code}: ${program.complained()}`)
  const waits = new Promise<string>(resolve => {
    program.process.stdout?.on('data', () => program.said().includes('listening') && resolve('listening'))
  })
  const end = await Promise.race([refused, waits])
  await program.end()
  return { end, said: program.said() }
}

test('NODE_EXTRA_CA_CERTS: the certificate of a private authority is trusted, and only with it', async () => {
  const without = await start({})
  expect(without.end).toBe('listening')
  expect(without.said).toMatch(/GitHub did not answer.*/)
  expect(asked).toEqual([])
  const { end } = await start({ NODE_EXTRA_CA_CERTS: ca })
  expect(end).toMatch(/^2: error\[config\]: APP_ID and PRIVATE_KEY: GitHub does not accept this key/)
  expect(asked).toContain('GET /api/v3/app')
  expect(tunnels).toEqual([])
})

test('NODE_USE_ENV_PROXY and HTTPS_PROXY: GitHub is asked through the proxy', async () => {
  const { end } = await start({ NODE_EXTRA_CA_CERTS: ca, NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: proxy })
  expect(end).toMatch(/^2: error\[config\]: APP_ID and PRIVATE_KEY/)
  expect(tunnels).toEqual([new URL(api).host])
})
