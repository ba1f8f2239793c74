import { rerequest } from '../actions/check-run.ts'
import { rerequestSuite } from '../actions/check-suite.ts'
import { checkRunPayload } from '../events/payloads.ts'
import { type CheckRun, fullName, type Repository, type World } from '../world.ts'
import { type Directory, personWith } from './directory.ts'

interface As {
  readonly as: string
}

/** What people press at check runs; GitHub offers it to who may write. */
export function onChecks(world: World, { userNamed, repositoryNamed }: Directory) {
  /** Presses "Re-run" at a check run. */
  function rerequestRun(repo: string, checkRunId: number, { as }: As): void {
    const repository = repositoryNamed(repo)
    const by = personWith(world, repository, userNamed(as), 'write')
    rerequest(world, repository, runNumbered(repository, checkRunId), by)
  }

  /** Presses a button that the check run offers. Throws when it has no such button. */
  function pressAction(repo: string, checkRunId: number, identifier: string, { as }: As): void {
    const repository = repositoryNamed(repo)
    const by = personWith(world, repository, userNamed(as), 'write')
    const run = runNumbered(repository, checkRunId)
    if (!run.actions.some(action => action.identifier === identifier)) {
      throw new Error(`${run.name} has no action ${identifier}`)
    }
    const payload = checkRunPayload(world, repository, 'requested_action', run, { requested_action: { identifier } })
    world.emit(repository, by, 'check_run', payload, run.app)
  }

  /** Presses "Re-run all checks" of one app: `suite` of any of its runs. */
  function rerequestAll(repo: string, suiteId: number, { as }: As): void {
    const repository = repositoryNamed(repo)
    const by = personWith(world, repository, userNamed(as), 'write')
    const suite = repository.checkSuites.get(suiteId)
    if (!suite) throw new Error(`${repo} has no check suite ${suiteId}`)
    rerequestSuite(world, repository, suite, by)
  }

  return {
    rerequestSuite: rerequestAll,
    rerequest: rerequestRun,
    pressAction,
    /** `rerequest` with the run itself. */
    rerun: (wanted: { repo: string; run: CheckRun; as: string }) =>
      rerequestRun(wanted.repo, wanted.run.id, { as: wanted.as }),
    /** `pressAction` with the run itself. */
    requestAction: (wanted: { repo: string; run: CheckRun; identifier: string; as: string }) =>
      pressAction(wanted.repo, wanted.run.id, wanted.identifier, { as: wanted.as }),
  }
}

function runNumbered(repository: Repository, id: number): CheckRun {
  const run = repository.checkRuns.find(each => each.id === id)
  if (!run) throw new Error(`${fullName(repository)} has no check run ${id}`)
  return run
}
