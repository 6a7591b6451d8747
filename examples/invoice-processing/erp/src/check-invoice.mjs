/**
 * What an accounts-payable clerk checks before posting: the invoice against itself, its purchase order and the vendor's master data.
 * @returns {{ verdict: 'ok' | 'reject', reasons: string[] }} every reason, in a fixed order
 */
export function checkInvoice(invoice, purchaseOrder, vendor) {
  const linesAgree = invoice.lines.every((line) => line.quantity * line.unit_cents === line.net_cents);
  const sum = invoice.lines.reduce((total, line) => total + line.net_cents, 0);
  const faults = {
    'unknown-supplier': vendor === undefined,
    'unknown-purchase-order': purchaseOrder === undefined,
    'other-supplier': purchaseOrder !== undefined && purchaseOrder.supplier !== invoice.supplier,
    currency: purchaseOrder !== undefined && purchaseOrder.currency !== invoice.currency,
    'wrong-sum': !linesAgree || sum !== invoice.net_cents,
    'wrong-tax': taxOf(invoice) !== invoice.tax_cents || (purchaseOrder?.tax_percent ?? invoice.tax_percent) !== invoice.tax_percent,
    'wrong-total': invoice.net_cents + invoice.tax_cents !== invoice.total_cents,
    'over-order': purchaseOrder !== undefined && invoice.net_cents > purchaseOrder.net_cents,
    'bank-account': vendor !== undefined && vendor.iban !== invoice.iban,
  };
  const reasons = Object.keys(faults).filter((reason) => faults[reason]);
  return { verdict: reasons.length === 0 ? 'ok' : 'reject', reasons };
}

/** Whole cents, half away from zero; in integers, so that no cent is lost to a fraction. */
function taxOf({ net_cents: net, tax_percent: percent }) {
  return Math.sign(net) * Math.floor((Math.abs(net) * percent + 50) / 100);
}
