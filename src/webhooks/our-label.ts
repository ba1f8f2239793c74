/** Whether a label is one of those that tell us something; GitHub keeps the case of labels and does not heed it. */
export function isOurLabel(name: string | undefined): boolean {
  return name?.toLowerCase().startsWith('bailiwick/') ?? false
}
