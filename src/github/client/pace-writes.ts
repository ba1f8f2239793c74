import type { ProbotOctokit } from 'probot'
import type { Write, WriteTurns } from './write-turns.ts'

type Client = InstanceType<typeof ProbotOctokit>

/** Where what is posted notifies people: issues, pull requests, comments, reviews and merges. */
const NOTIFIES =
  /\/(?:issues|pulls|commits)(?:\/[^/]+\/(?:comments(?:\/[^/]+\/replies)?|reviews|merge|requested_reviewers))?$/
const CHECK = /\/check-(?:runs|suites)(?:\/|$)/
/** Making a token changes nothing. */
const TOKEN = /\/app\/installations\/[^/]+\/access_tokens$/

/** Has each write of a client wait for its turn among those of the installation. */
export function paceWrites(client: Client, turns: WriteTurns, installation: string): Client {
  client.hook.before('request', async ({ method, url }) => {
    const write = writeOf(method, url)
    if (write) await turns.take(installation, write)
  })
  return client
}

function writeOf(method: string, url: string): Write | undefined {
  const { pathname } = new URL(url, 'https://github.example')
  if (method === 'GET' || method === 'HEAD' || TOKEN.test(pathname)) return undefined
  const isNew = method === 'POST' || method === 'PUT'
  return { isCheck: CHECK.test(pathname), notifies: isNew && NOTIFIES.test(pathname) }
}
