import { globSync, readFileSync } from 'node:fs'
import { Octokit } from '@octokit/rest'
import { expect, test } from 'vitest'
import { parse } from 'yaml'

/**
 * The permission that each call needs, by GitHub's table (docs.github.com/rest/authentication/permissions-required-for-github-apps);
 * `app`: as the App itself, `user`: as the person who signed in, `optional`: without it the App says what to do instead.
 */
const NEEDS: Readonly<Record<string, string>> = {
  'GET /app': 'app',
  'GET /app/hook/deliveries': 'app',
  'GET /app/hook/deliveries/{delivery_id}': 'app',
  'POST /app/hook/deliveries/{delivery_id}/attempts': 'app',
  'GET /app/installations': 'app',
  'GET /app/installations/{installation_id}': 'app',
  'DELETE /app/installations/{installation_id}': 'app',
  'POST /app/installations/{installation_id}/access_tokens': 'app',
  'POST /app-manifests/{code}/conversions': 'app',
  'GET /repos/{owner}/{repo}/installation': 'app',
  'GET /user': 'user',
  'GET /installation/repositories': 'metadata: read',
  'GET /repos/{owner}/{repo}': 'metadata: read',
  'GET /repos/{owner}/{repo}/collaborators': 'metadata: read',
  'GET /repos/{owner}/{repo}/collaborators/{username}/permission': 'metadata: read',
  'GET /repos/{owner}/{repo}/rules/branches/{branch}': 'metadata: read',
  'GET /repos/{owner}/{repo}/rulesets': 'metadata: read',
  'GET /repos/{owner}/{repo}/rulesets/{ruleset_id}': 'metadata: read',
  'POST /repos/{owner}/{repo}/rulesets': 'optional administration: write',
  'PUT /repos/{owner}/{repo}/rulesets/{ruleset_id}': 'optional administration: write',
  'DELETE /repos/{owner}/{repo}/rulesets/{ruleset_id}': 'optional administration: write',
  'GET /repos/{owner}/{repo}/keys': 'optional administration: read',
  'POST /repos/{owner}/{repo}/keys': 'optional administration: write',
  'DELETE /repos/{owner}/{repo}/keys/{key_id}': 'optional administration: write',
  'DELETE /installation/token': 'metadata: read',
  'GET /meta': 'metadata: read',
  'GET /repos/{owner}/{repo}/branches/{branch}/protection': 'administration: read',
  'GET /orgs/{org}/memberships/{username}': 'members: read',
  'GET /orgs/{org}/teams/{team_slug}/memberships/{username}': 'members: read',
  'GET /repos/{owner}/{repo}/activity': 'contents: read',
  'GET /repos/{owner}/{repo}/branches/{branch}': 'contents: read',
  'GET /repos/{owner}/{repo}/compare/{basehead}': 'contents: read',
  'GET /repos/{owner}/{repo}/contents/{path}': 'contents: read',
  'PUT /repos/{owner}/{repo}/contents/{path}': 'contents: write',
  'GET /repos/{owner}/{repo}/commits': 'contents: read',
  'GET /repos/{owner}/{repo}/git/blobs/{file_sha}': 'contents: read',
  'GET /repos/{owner}/{repo}/git/commits/{commit_sha}': 'contents: read',
  'GET /repos/{owner}/{repo}/git/ref/{ref}': 'contents: read',
  'GET /repos/{owner}/{repo}/git/matching-refs/{ref}': 'contents: read',
  'GET /repos/{owner}/{repo}/git/tags/{tag_sha}': 'contents: read',
  'GET /repos/{owner}/{repo}/git/trees/{tree_sha}': 'contents: read',
  'GET /repos/{owner}/{repo}/tarball/{ref}': 'contents: read',
  'POST /repos/{owner}/{repo}/git/commits': 'contents: write',
  'POST /repos/{owner}/{repo}/git/refs': 'contents: write',
  'POST /repos/{owner}/{repo}/git/trees': 'contents: write',
  'PATCH /repos/{owner}/{repo}/git/refs/{ref}': 'contents: write',
  'GET /repos/{owner}/{repo}/check-runs/{check_run_id}': 'checks: read',
  'GET /repos/{owner}/{repo}/commits/{ref}/check-runs': 'checks: read',
  'POST /repos/{owner}/{repo}/check-runs': 'checks: write',
  'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}': 'checks: write',
  'GET /repos/{owner}/{repo}/issues': 'issues: read',
  'GET /repos/{owner}/{repo}/issues/{issue_number}': 'issues: read',
  'GET /repos/{owner}/{repo}/issues/{issue_number}/comments': 'issues: read',
  'GET /repos/{owner}/{repo}/issues/{issue_number}/events': 'issues: read',
  'GET /repos/{owner}/{repo}/issues/comments/{comment_id}': 'issues: read',
  'GET /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions': 'issues: read',
  'GET /repos/{owner}/{repo}/labels/{name}': 'issues: read',
  'POST /repos/{owner}/{repo}/issues': 'issues: write',
  'PATCH /repos/{owner}/{repo}/issues/{issue_number}': 'issues: write',
  'POST /repos/{owner}/{repo}/issues/{issue_number}/comments': 'issues: write',
  'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}': 'issues: write',
  'DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}': 'issues: write',
  'POST /repos/{owner}/{repo}/issues/{issue_number}/labels': 'issues: write',
  'DELETE /repos/{owner}/{repo}/issues/{issue_number}/labels/{name}': 'issues: write',
  'POST /repos/{owner}/{repo}/labels': 'issues: write',
  'POST /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions': 'issues: write',
  'GET /repos/{owner}/{repo}/commits/{commit_sha}/pulls': 'pull_requests: read',
  'GET /repos/{owner}/{repo}/pulls': 'pull_requests: read',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}': 'pull_requests: read',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/comments': 'pull_requests: read',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/files': 'pull_requests: read',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/commits': 'pull_requests: read',
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews': 'pull_requests: read',
  'POST /repos/{owner}/{repo}/pulls': 'pull_requests: write',
  'PATCH /repos/{owner}/{repo}/pulls/{pull_number}': 'pull_requests: write',
  'POST /repos/{owner}/{repo}/pulls/{pull_number}/reviews': 'pull_requests: write',
}

/** What an event needs to be sent (docs.github.com/webhooks/webhook-events-and-payloads, "Availability for GitHub Apps"). */
const EVENT_NEEDS: Readonly<Record<string, string>> = {
  branch_protection_rule: 'administration: read',
  check_run: 'checks: read',
  check_suite: 'checks: read',
  create: 'contents: read',
  delete: 'contents: read',
  issue_comment: 'issues: read',
  issues: 'issues: read',
  merge_group: 'merge_queues: read',
  pull_request: 'pull_requests: read',
  pull_request_review: 'pull_requests: read',
  push: 'contents: read',
  repository: 'metadata: read',
  repository_ruleset: 'administration: read',
}

const manifest: { readonly default_permissions: Record<string, string>; readonly default_events: string[] } = parse(
  readFileSync('app.yml', 'utf8'),
)

/** `METHOD /path` of every call that our code makes with octokit. */
function calls(): string[] {
  const source = globSync('{src,workers}/**/*.ts')
    .map(path => readFileSync(path, 'utf8'))
    .join('\n')
  const rest = new Octokit().rest as unknown as Record<
    string,
    Record<string, { endpoint: { DEFAULTS: { method: string; url: string } } }>
  >
  const named = [...source.matchAll(/\.rest\.(\w+)\.(\w+)/g)].map(([call, area = '', name = '']) => {
    const { method, url } = rest[area]?.[name]?.endpoint.DEFAULTS ?? { method: call, url: 'is no call of octokit' }
    return `${method} ${url}`
  })
  const written = [...source.matchAll(/\.(?:request|paginate)\(\s*['"`]((?:GET|POST|PUT|PATCH|DELETE) [^'"`]+)/g)].map(
    ([, route = '']) => route,
  )
  return [...new Set([...named, ...written])].sort()
}

/** The most of each permission. */
function union(needs: readonly string[]): Record<string, string> {
  const most: Record<string, string> = {}
  for (const need of needs) {
    const [, name = '', level = ''] = /^(\w+): (\w+)$/.exec(need) ?? []
    if (name !== '' && most[name] !== 'write') most[name] = level
  }
  return most
}

test('every call that the code makes is in the table, so that its permission is known', () => {
  expect(calls().length).toBeGreaterThan(30)
  expect(calls().filter(route => NEEDS[route] === undefined)).toEqual([])
})

test('every event of app.yml is in the table', () => {
  expect(manifest.default_events.filter(event => EVENT_NEEDS[event] === undefined)).toEqual([])
})

test('app.yml asks for exactly what the calls and the events need', () => {
  const needs = [
    ...calls().map(route => NEEDS[route] ?? ''),
    ...manifest.default_events.map(one => EVENT_NEEDS[one] ?? ''),
  ]
  expect(manifest.default_permissions).toEqual(union(needs))
})

test('each permission says in its line what needs it', () => {
  const lines = readFileSync('app.yml', 'utf8').split('\n')
  for (const name of Object.keys(manifest.default_permissions)) {
    expect(lines.find(line => line.startsWith(`  ${name}: `))).toMatch(/: (?:read|write) # \S/)
  }
})
