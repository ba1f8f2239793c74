import { addLabels, changeLabel, createLabel, deleteLabel, removeLabel, setLabels } from '../actions/label.ts'
import { namesIn, requiredText, text } from '../http/body.ts'
import { notFound } from '../http/http-error.ts'
import { list } from '../http/list.ts'
import { created, noContent, ok, onRepository, type RepositoryCall, type Route } from '../http/route.ts'
import { labelJson, labelsJson } from '../json/label.ts'
import { type Issue, type Label, senderOf } from '../world.ts'
import { issueOf } from './issues.ts'

const READ = 'issues:read|pull_requests:read'
const WRITE = 'issues:write|pull_requests:write'
const ON_ISSUE = '/issues/{issue_number}/labels'

/** labels: of the repository, and on issues and pull requests. */
export function labelRoutes(): Route[] {
  return [
    onRepository('GET', '/labels', READ, 'read', call =>
      list(call, [...call.repo.labels.values()], label => labelJson(call.world, call.repo, label)),
    ),
    onRepository('POST', '/labels', WRITE, 'write', call => {
      const [color, description] = [text(call.body, 'color'), text(call.body, 'description') ?? null]
      const wanted = { name: requiredText(call.body, 'name'), description, ...(color ? { color } : {}) }
      return created(labelJson(call.world, call.repo, createLabel(call.world, call.repo, senderOf(call.actor), wanted)))
    }),
    onRepository('GET', '/labels/{name}', READ, 'read', call => ok(labelJson(call.world, call.repo, labelOf(call)))),
    onRepository('PATCH', '/labels/{name}', WRITE, 'write', call => {
      const [name, color] = [text(call.body, 'new_name'), text(call.body, 'color')]
      const wanted = { name, color, description: text(call.body, 'description') }
      const label = labelOf(call)
      changeLabel(call.world, call.repo, senderOf(call.actor), label, wanted)
      return ok(labelJson(call.world, call.repo, label))
    }),
    onRepository('DELETE', '/labels/{name}', WRITE, 'write', call => {
      deleteLabel(call.world, call.repo, senderOf(call.actor), labelOf(call))
      return noContent()
    }),
    ...routesOnIssue(),
  ]
}

function routesOnIssue(): Route[] {
  return [
    onRepository('GET', ON_ISSUE, READ, 'read', call =>
      list(call, labelsJson(call.world, call.repo, issueOf(call)), label => label),
    ),
    onRepository('POST', ON_ISSUE, WRITE, 'triage', call => changed(call, addLabels)),
    onRepository('PUT', ON_ISSUE, WRITE, 'triage', call => changed(call, setLabels)),
    onRepository('DELETE', ON_ISSUE, WRITE, 'triage', call => {
      setLabels(call.world, call.repo, issueOf(call), [], senderOf(call.actor))
      return noContent()
    }),
    onRepository('DELETE', `${ON_ISSUE}/{name}`, WRITE, 'triage', call => {
      const issue = issueOf(call)
      removeLabel(call.world, call.repo, issue, call.params.name ?? '', senderOf(call.actor))
      return ok(labelsJson(call.world, call.repo, issue))
    }),
  ]
}

function changed(call: RepositoryCall, change: typeof addLabels) {
  const issue: Issue = issueOf(call)
  change(call.world, call.repo, issue, namesIn(call.body, 'labels'), senderOf(call.actor))
  return ok(labelsJson(call.world, call.repo, issue))
}

function labelOf(call: RepositoryCall): Label {
  const label = call.repo.labels.get((call.params.name ?? '').toLowerCase())
  if (!label) throw notFound()
  return label
}
