import { ensureSuite, latestRuns, rerequestSuite, suiteOf } from '../actions/check-suite.ts'
import { commitNamed } from '../actions/resolve.ts'
import { requiredText } from '../http/body.ts'
import { HttpError, notFound } from '../http/http-error.ts'
import { list } from '../http/list.ts'
import { created, ok, onRepository, type RepositoryCall, type Route } from '../http/route.ts'
import { checkRunJson } from '../json/check-run.ts'
import { checkSuiteWithRepositoryJson } from '../json/check-suite.ts'
import { type CheckSuite, senderOf } from '../world.ts'

const SUITE = '/check-suites/{check_suite_id}'

/** check-suites: what groups the runs of one app on one commit. */
export function checkSuiteRoutes(): Route[] {
  return [
    onRepository('POST', '/check-suites', 'checks:write', 'apps-only', create),
    onRepository('GET', SUITE, 'checks:read', 'read', call =>
      ok(checkSuiteWithRepositoryJson(call.world, call.repo, suiteNamed(call))),
    ),
    onRepository('POST', `${SUITE}/rerequest`, 'checks:write', 'write', call => {
      rerequestSuite(call.world, call.repo, suiteNamed(call), senderOf(call.actor))
      return created({})
    }),
    onRepository('GET', `${SUITE}/check-runs`, 'checks:read', 'read', call => {
      const suite = suiteNamed(call)
      const all = call.repo.checkRuns.filter(run => run.suite === suite.id)
      const [name, status] = [call.query.get('check_name'), call.query.get('status')]
      const runs = (call.query.get('filter') === 'all' ? all : latestRuns(call.repo, suite)).filter(
        run => (!name || run.name === name) && (!status || run.status === status),
      )
      return list(
        call,
        runs,
        run => checkRunJson(call.world, call.repo, run),
        (check_runs, total_count) => ({ total_count, check_runs }),
      )
    }),
    onRepository('GET', '/commits/{ref}/check-suites', 'checks:read', 'read', call => {
      const { sha } = commitNamed(call.repo, call.params.ref ?? '')
      const [app, name] = [call.query.get('app_id'), call.query.get('check_name')]
      const found = [...call.repo.checkSuites.values()].filter(suite => {
        const named = !name || latestRuns(call.repo, suite).some(run => run.name === name)
        return suite.headSha === sha && named && (!app || String(suite.app.id) === app)
      })
      return list(
        call,
        found,
        suite => checkSuiteWithRepositoryJson(call.world, call.repo, suite),
        (check_suites, total_count) => ({ total_count, check_suites }),
      )
    }),
  ]
}

/** 201 for a new one, 200 for one that is there (docs, "Create a check suite"). */
function create(call: RepositoryCall) {
  const app = call.actor.kind === 'installation' ? call.actor.app : undefined
  const sha = requiredText(call.body, 'head_sha')
  if (!app) throw new HttpError(403, 'You must authenticate via a GitHub App.')
  if (!call.repo.store.commit(sha)) throw new HttpError(422, `No commit found for SHA: ${sha}`)
  const isNew = !suiteOf(call.repo, app, sha)
  const json = checkSuiteWithRepositoryJson(call.world, call.repo, ensureSuite(call.world, call.repo, app, sha))
  return isNew ? created(json) : ok(json)
}

function suiteNamed(call: RepositoryCall): CheckSuite {
  const suite = call.repo.checkSuites.get(Number(call.params.check_suite_id))
  if (!suite) throw notFound()
  return suite
}
