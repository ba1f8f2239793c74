import { code } from '../../message/markdown.ts'
import { shortUrl } from '../text/place.ts'

/** What is open about who is a fleet. Repositories are named only where this one is named with them. */
export type OpenDesignation =
  /** Several repositories had clusters on the first day. */
  | { readonly kind: 'several' }
  /** The organization's file names other fleets than those that were confirmed. */
  | { readonly kind: 'pending'; readonly included: boolean }

const HOW = [
  `- comment ${code('/bailiwick designate')} on this issue (an owner of the organization);`,
  `- or list the fleet under ${code('fleets')} in ${code('bailiwick.yaml')} of the organization's ${code('.github')} repository, and confirm it with that comment;`,
  `- or ask the operator of this App to name it in ${code('FLEETS')} or ${code('CLUSTERS_FILE')}.`,
]

/** Says in the first report of a fleet, or of one that may be, what an owner has to decide; '' where nothing is open. */
export function designationSection(url: string, open: OpenDesignation | undefined): string {
  if (!open) return ''
  const here = code(shortUrl(url))
  if (open.kind === 'several') {
    return [
      '### Not designated',
      '',
      `When the App was installed, ${here} was not the only repository with a ${code('clusters')} directory. Until an owner of the organization designates the fleet, none of them evaluates other repositories, and pull requests onto branches that require the check get an error.`,
      '',
      `If ${here} is the fleet, do one of these:`,
      '',
      ...HOW,
    ].join('\n')
  }
  const what = open.included
    ? `${here} is among them. An owner of the organization confirms the change with the comment ${code('/bailiwick designate')} here.`
    : `${here} is not among them. It stays the fleet until an owner of the organization confirms the change with the comment ${code('/bailiwick designate')} in one of them.`
  return `### Designation to be confirmed\n\n${code('bailiwick.yaml')} of the organization's ${code('.github')} repository lists other fleets than those that were confirmed. ${what}`
}
