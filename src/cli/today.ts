/** The day in UTC, `YYYY-MM-DD`: waivers hold until one. */
export const today = (): string => new Date().toISOString().slice(0, 10)
