import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Octokit } from '@octokit/rest'
import { ProbotOctokit } from 'probot'
import { type FakeGitHub, type GitHubOptions, startGitHub } from './start.ts'
import type { App, Installation } from './world.ts'

/** How the tests name the repository to Octokit, and to the server. */
export const FLEET = { owner: 'acme', repo: 'fleet' } as const
export const NAME = 'acme/fleet'

const Client = ProbotOctokit.defaults({ throttle: { enabled: false }, retry: { enabled: false } })

/** Octokit warns of every refusal; here they are wanted. */
const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }

/** The client that Probot hands out, without its waiting: JSON web token, installation token, calls. */
export function clientOf(github: FakeGitHub, app: App, installation: Installation) {
  const { id: appId, privateKey } = app
  const auth = { appId, privateKey, installationId: installation.id }
  return new Client({ baseUrl: github.url, auth, log: SILENT })
}

/** A server with acme/fleet (ada: admin, dev: write, eve: read) and an app installed on acme. */
export async function acme(options: GitHubOptions = {}) {
  const github = await startGitHub({ checkResponses: true, ...options })
  github.addOrganization('acme', { admins: ['ada'], members: ['eve'] })
  const files = { 'a.txt': '1\n2\n3\n4\n5\n', 'b.txt': 'b\n', 'clusters/staging/x.yaml': 'x: 1\n' }
  github.addRepository({ owner: 'acme', name: 'fleet', files, roles: { dev: 'write' } })
  const installation = github.install(github.app, 'acme')
  const app = clientOf(github, github.app, installation)
  const as = (login: string) => new Octokit({ baseUrl: github.url, auth: github.tokenOf(login), log: SILENT })
  return { github, installation, app, as }
}

interface EventJobs {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** A place that webhooks are sent to; a silent one never answers. */
export async function hookReceiver(status: number | 'silent' = 200) {
  const heard: EventJobs[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => {
      heard.push({ headers: request.headers, body: Buffer.concat(chunks).toString() })
      if (status !== 'silent') response.writeHead(status).end()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  return { url, heard, close: () => closed(server) }
}

function closed(server: Server): Promise<void> {
  server.closeAllConnections()
  return new Promise(resolve => server.close(() => resolve()))
}
