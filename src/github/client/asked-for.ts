import { type Message, message, part, type ValueType } from '../../base/message.ts'
import { repositoryPart } from './octokit.ts'

/** What an address asks for, and the type of the name in it; the first that fits counts. */
const ADDRESSES = [
  [/^contents\/(.+)/, 'the file', 'path'],
  [/^branches\/([^/]+)\/protection$/, 'the protection of branch', 'branch'],
  [/^branches\/([^/]+)$/, 'branch', 'branch'],
  [/^rules\/branches\/([^/]+)$/, 'the rules of branch', 'branch'],
  [/^rulesets/, 'rulesets'],
  [/^git\/refs?\/(.+)/, 'the ref', 'branch'],
  [/^git\/refs$/, 'a branch'],
  [/^git\/matching-refs/, 'the merge queue'],
  [/^git\/commits\/([0-9a-f]+)$/, 'commit', 'value'],
  [/^git\/trees\/([0-9a-f]+)$/, 'tree', 'value'],
  [/^git\/blobs\/([0-9a-f]+)$/, 'blob', 'value'],
  [/^git\/tags\//, 'a tag'],
  [/^git\/commits/, 'a commit'],
  [/^git\/trees/, 'a tree'],
  [/\bcheck-runs\b/, 'check runs'],
  [/^commits\/.+\/pulls$/, 'the pull requests of a commit'],
  [/^compare\b/, 'the difference of two branches'],
  [/^tarball/, 'the archive'],
  [/^collaborators\/([^/]+)\/permission$/, 'the permission of', 'identity'],
  [/^collaborators/, 'the collaborators'],
  [/^activity/, 'the moves of a branch'],
  [/^keys/, 'deploy keys'],
  [/^installation$/, 'the installation'],
  [/\blabels\b/, 'labels'],
  [/\breactions$/, 'reactions'],
  [/\bcomments\b/, 'comments'],
  [/\breviews$/, 'reviews'],
  [/\bevents$/, 'events'],
  [/\bfiles$/, 'changed files'],
  [/\bcommits$/, 'commits'],
  [/^issues/, 'issues'],
  [/^pulls/, 'pull requests'],
  [/\bmemberships\//, 'memberships'],
  [/\bdeliveries\b/, 'deliveries of webhooks'],
  [/\binstallation\/repositories$/, 'the repositories of the installation'],
  [/\binstallations\b/, 'installations'],
  [/\bapp\b/, 'the App'],
  [/\binstallation\/token$/, 'a token'],
  [/\bmeta$/, 'what GitHub publishes of itself'],
] as const satisfies readonly (readonly [RegExp, string, ValueType?])[]

/** What a request asks of GitHub, after "could not": "read branch "main" of acme/fleet". */
export function askedFor(method: string, url: string): Message {
  const verb = method === 'GET' ? 'read' : method === 'DELETE' ? 'delete' : 'write'
  const { pathname } = new URL(url)
  const [, owner, repo, below] = /\/repos\/([^/]+)\/([^/]+)\/?(.*)/.exec(pathname) ?? []
  const what = wordsOf(below ?? pathname)
  if (owner === undefined || repo === undefined) return message`${verb} ${what}`
  const number = /^(?:issues|pulls)\/(\d+)/.exec(below ?? '')?.[1]
  const where = repositoryPart({ owner, repo }, number === undefined ? undefined : Number(number))
  return below === '' ? message`${verb} the repository ${where}` : message`${verb} ${what} of ${where}`
}

function wordsOf(path: string): Message {
  for (const [address, words, type] of ADDRESSES) {
    const found = address.exec(path)
    if (!found) continue
    const name = type && found[1] && decodeURIComponent(found[1])
    return name
      ? message`${words} ${part(type, name, type === 'branch' ? JSON.stringify(name) : name)}`
      : message`${words}`
  }
  return message`what was asked for`
}
