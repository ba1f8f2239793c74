import { deployKeyTitle } from '../../src/credentials/deploy-key-title.ts'
import type { OpenedPullRequest } from '../../src/github/pulls/open-pull-request.ts'
import { readOwnPull } from '../../src/github/pulls/read-own-pull.ts'
import { accessText } from '../../src/onboard/credential/access-text.ts'
import { deployKeyMarker } from '../../src/onboard/credential/deploy-key-record.ts'
import { refuseOwnApp } from '../../src/onboard/credential/refuse-own-app.ts'
import type { OnboardRequest } from '../../src/onboard/request.ts'
import { addRecordedKey } from '../trail/recorded-writes.ts'
import { forgetDeployKey } from './forget-deploy-key.ts'
import { openOnboarding } from './open-onboarding.ts'
import { type AccessQuestion, type PlannedAccess, planReadAccess } from './plan-read-access.ts'
import { planTenantKey } from './plan-tenant-key.ts'
import { type PreparedOnboarding, prepareOnboarding } from './prepare-onboarding.ts'

/**
 * Opens the pull request of an onboarding, with the credentials that its tenant needs. The sealed key is committed first and
 * added to the repository then: what a crash leaves is a pull request that the next attempt completes, never a key whose
 * private half is nowhere. `end`: the end of its text.
 */
export async function openWithAccess(question: AccessQuestion, end: string): Promise<OpenedPullRequest> {
  refuseOwnApp(question.prepared.request, question.context.config.appId)
  const key = await planTenantKey(question)
  if (!key) return openAccess(question, end, '')
  const prepared =
    key.sealed === undefined
      ? question.prepared
      : await prepareAgain(question, { sealedKey: key.sealed, ...configOf(key) })
  return openAccess({ ...question, prepared }, `${key.text}\n\n${end}`, key.marker)
}

/** `note`: for the commit. */
async function openAccess(question: AccessQuestion, end: string, note: string): Promise<OpenedPullRequest> {
  const { prepared, place } = question
  if (prepared.request.access === undefined) return openOnboarding(question, prepared, end, note)
  const planned = await planReadAccess(question)
  if (planned.state === 'by-hand') return openByHand(question, planned, end, note)
  const { sealed, file, repository, record, recipients, replaced } = planned
  const { context, installation, by } = question
  const complete = await prepareAgain(question, { sealed, ...configOf(planned) })
  const outcome = { state: 'sealed', file, repository: prepared.request.url, key: record.key, recipients } as const
  const access = accessText(prepared.request, outcome)
  const text = planned.note === undefined ? access : `${access}\n\n${planned.note}`
  const marker = deployKeyMarker(record, context.config.privateKey)
  const opened = await openOnboarding(
    question,
    complete,
    `${text}\n\n${end}\n\n${marker}`,
    note === '' ? marker : `${marker}\n${note}`,
  )
  if (replaced) await forgetDeployKey(actOf(question), installation, replaced)
  const owner = { tenant: record.tenant, fleet: `${place.owner}/${place.repo}` }
  const title = deployKeyTitle(owner, `requested by ${by}`)
  const added = await context.app.administer(installation.id, repository.id, octokit =>
    addRecordedKey(actOf(question), octokit, repository, { title, key: record.key }),
  )
  if (!added) {
    const why = `GitHub does not accept deploy keys for that repository. An organization owner can allow them in the settings of the organization under \`Deploy keys\`.`
    return openByHand(question, { state: 'by-hand', file, why }, end, note)
  }
  // whoever closed it meanwhile closed it before there was a key to delete
  const pull = await readOwnPull(place.octokit, place.app, place, opened.number)
  if (pull?.state === 'closed') await forgetDeployKey(actOf(question), installation, record)
  return opened
}

const actOf = ({ context, place, installation, fleet }: AccessQuestion) => ({
  ...{ context, app: place.app, fleet: { installation: installation.id, url: fleet.url } },
})

function openByHand(
  question: AccessQuestion,
  planned: Extract<PlannedAccess, { state: 'by-hand' }>,
  end: string,
  note: string,
): Promise<OpenedPullRequest> {
  const { prepared } = question
  return openOnboarding(question, prepared, `${accessText(prepared.request, planned)}\n\n${end}`, note)
}

const configOf = ({ sopsConfig }: { readonly sopsConfig?: OnboardRequest['sopsConfig'] | undefined }) =>
  sopsConfig ? { sopsConfig } : {}

/** The same onboarding with a sealed file among its files; it is rendered and compared again. */
async function prepareAgain(
  { context, installation, fleet, prepared, by }: AccessQuestion,
  sealed: Pick<OnboardRequest, 'sealed' | 'sealedKey' | 'sopsConfig'>,
): Promise<PreparedOnboarding> {
  return prepareOnboarding(context, installation, fleet, { ...prepared.request, ...sealed }, by)
}
