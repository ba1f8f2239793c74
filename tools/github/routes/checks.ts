import { changeCheckRun, createCheckRun, rerequest } from '../actions/check-run.ts'
import { commitNamed } from '../actions/resolve.ts'
import { HttpError, notFound } from '../http/http-error.ts'
import { list } from '../http/list.ts'
import { created, ok, onRepository, type RepositoryCall, type Route } from '../http/route.ts'
import { annotationJson, checkRunJson } from '../json/check-run.ts'
import { type CheckRun, senderOf } from '../world.ts'

/** check-runs, with their annotations. */
export function checkRoutes(): Route[] {
  return [
    onRepository('POST', '/check-runs', 'checks:write', 'apps-only', call => {
      const run = createCheckRun(call.world, call.repo, caller(call), call.body)
      return created(checkRunJson(call.world, call.repo, run))
    }),
    onRepository('PATCH', '/check-runs/{check_run_id}', 'checks:write', 'apps-only', call => {
      const run = runOf(call)
      if (run.app !== caller(call)) {
        throw new HttpError(
          403,
          `Invalid app_id \`${caller(call).id}\` - check run can only be modified by its own app.`,
        )
      }
      changeCheckRun(call.world, call.repo, run, call.body)
      return ok(checkRunJson(call.world, call.repo, run))
    }),
    onRepository('GET', '/check-runs/{check_run_id}', 'checks:read', 'read', call =>
      ok(checkRunJson(call.world, call.repo, runOf(call))),
    ),
    onRepository('GET', '/check-runs/{check_run_id}/annotations', 'checks:read', 'read', call => {
      const run = runOf(call)
      return list(call, run.annotations, annotation => annotationJson(call.repo, run, annotation))
    }),
    onRepository('POST', '/check-runs/{check_run_id}/rerequest', 'checks:write', 'write', call => {
      rerequest(call.world, call.repo, runOf(call), senderOf(call.actor))
      return created({})
    }),
    onRepository('GET', '/commits/{ref}/check-runs', 'checks:read', 'read', listForRef),
  ]
}

function caller(call: RepositoryCall) {
  const app = call.actor.kind === 'installation' ? call.actor.app : undefined
  if (!app) throw new HttpError(403, 'You must authenticate via a GitHub App.')
  return app
}

function runOf(call: RepositoryCall): CheckRun {
  const run = call.repo.checkRuns.find(each => String(each.id) === call.params.check_run_id)
  if (!run) throw notFound()
  return run
}

function listForRef(call: RepositoryCall) {
  const { query, repo } = call
  const { sha } = commitNamed(repo, call.params.ref ?? '')
  const [name, app, status] = [query.get('check_name'), query.get('app_id'), query.get('status')]
  const fits = repo.checkRuns.filter(run => {
    const ours = run.headSha === sha && (!name || run.name === name) && (!app || String(run.app.id) === app)
    return ours && (!status || run.status === status)
  })
  const isLatest = (run: CheckRun) =>
    !fits.some(other => other.id > run.id && other.name === run.name && other.suite === run.suite)
  const shown = query.get('filter') === 'all' ? fits : fits.filter(isLatest)
  return list(
    call,
    shown.reverse(),
    run => checkRunJson(call.world, repo, run),
    (check_runs, total_count) => ({
      ...{ total_count, check_runs },
    }),
  )
}
