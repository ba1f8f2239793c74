/** Query parameters that a route heeds, besides those of paging. What GitHub knows and this server does not is refused. */
const HEEDED: Readonly<Record<string, readonly string[]>> = {
  'GET /app/hook/deliveries': ['cursor', 'status'],
  'GET /repos/{owner}/{repo}/activity': ['ref', 'actor', 'activity_type', 'direction', 'before', 'after'],
  'GET /repos/{owner}/{repo}/commits': ['sha', 'path', 'author'],
  'GET /repos/{owner}/{repo}/commits/{ref}/check-runs': ['check_name', 'app_id', 'status', 'filter'],
  'GET /repos/{owner}/{repo}/commits/{ref}/check-suites': ['app_id', 'check_name'],
  'GET /repos/{owner}/{repo}/check-suites/{check_suite_id}/check-runs': ['check_name', 'status', 'filter'],
  'GET /repos/{owner}/{repo}/contents/{path}': ['ref'],
  'GET /repos/{owner}/{repo}/git/trees/{tree_sha}': ['recursive'],
  'GET /repos/{owner}/{repo}/issues': ['state', 'creator', 'labels', 'since', 'sort', 'direction'],
  'GET /repos/{owner}/{repo}/issues/{issue_number}/comments': ['since'],
  'GET /repos/{owner}/{repo}/issues/comments/{comment_id}/reactions': ['content'],
  'GET /repos/{owner}/{repo}/issues/{issue_number}/reactions': ['content'],
  'GET /repos/{owner}/{repo}/pulls': ['state', 'base', 'head', 'sort', 'direction'],
  'GET /repos/{owner}/{repo}/pulls/{pull_number}/comments': ['since', 'direction'],
  'GET /repos/{owner}/{repo}/rulesets': ['includes_parents', 'targets'],
  'GET /repos/{owner}/{repo}/rulesets/{ruleset_id}': ['includes_parents'],
  'GET /_codeload/{owner}/{repo}/legacy.tar.gz/{ref}': ['token'],
}

/** The first query parameter that would be ignored here, and so give a wrong answer; undefined when there is none. */
export function unheeded(method: string, path: string, query: URLSearchParams): string | undefined {
  const heeded = HEEDED[`${method} ${path}`] ?? []
  return [...query.keys()].find(name => name !== 'per_page' && name !== 'page' && !heeded.includes(name))
}
